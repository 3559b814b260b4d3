//! The undo of an import: the accounts that it created are deleted again, unless they are in use.

use std::sync::Arc;

use latchkey_domain::audit::AuditKind;
use latchkey_domain::client::Client;
use latchkey_domain::ids::ImportId;
use latchkey_domain::imports::ImportState;
use latchkey_domain::operator::Party;
use latchkey_store::{IMPORT_RETENTION, UndoImport};

use super::Imports;
use crate::error::{Error, Result};
use crate::refusal::{IMPORT_NOT_UNDOABLE, IMPORT_RUNNING};

/// Number of accounts of a batch.
const BATCH: usize = 200;

/// Numbers of accounts of an import that was undone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UndoneImport {
    pub deleted: u64,
    /// Accounts that stay because they have signed in.
    pub signed_in: u64,
    /// Accounts that stay because they were changed since.
    pub changed: u64,
    /// Accounts that were gone already.
    pub gone: u64,
}

impl Imports {
    /// Deletes the accounts like [`Self::undo`], in a task of its own, which the time limit of a request does not end.
    pub async fn undo_to_the_end(
        self: &Arc<Self>,
        id: ImportId,
        party: Party,
        client: Client,
    ) -> Result<UndoneImport> {
        let imports = Arc::clone(self);
        let work = tokio::spawn(async move { imports.undo(id, party, Some(&client)).await });
        work.await.map_err(Error::internal)?
    }

    /// Deletes the accounts of an import that never signed in and were not changed since. Interrupted, it goes on when it is
    /// called again.
    pub async fn undo(&self, id: ImportId, party: Party, client: Option<&Client>) -> Result<UndoneImport> {
        let (job, now) = (self.find(id).await?, self.kernel.now());
        if job.is_dry_run || job.state == ImportState::Undone || now.since(job.started_at) >= IMPORT_RETENTION
        {
            return Err(Error::Refused(&IMPORT_NOT_UNDOABLE));
        }
        if job.state == ImportState::Running {
            return Err(Error::Refused(&IMPORT_RUNNING));
        }
        let (mut undone, mut after) = (UndoneImport::default(), 0);
        loop {
            let now = self.kernel.now();
            let event = |_| self.kernel.event(AuditKind::UserDeleted, party, client, now);
            let batch = UndoImport { id, after, events: (0..BATCH).map(event).collect(), now };
            let batch = self.kernel.store.undo_import_batch(batch).await?;
            undone.deleted += batch.deleted;
            undone.signed_in += batch.signed_in;
            undone.changed += batch.changed;
            undone.gone += batch.gone;
            let Some(last) = batch.last else { break };
            after = last;
        }
        let now = self.kernel.now();
        let mut event = self.kernel.event(AuditKind::ImportUndone, party, client, now);
        event.details.insert("importId".to_owned(), id.to_string().into());
        event.details.insert("deleted".to_owned(), undone.deleted.into());
        self.kernel.store.end_undo(id, event, now).await?;
        Ok(undone)
    }
}
