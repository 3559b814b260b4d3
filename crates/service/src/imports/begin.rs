//! The beginning of an import, new or interrupted.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::client::Client;
use latchkey_domain::ids::ImportId;
use latchkey_domain::imports::{ConflictPolicy, ImportCounts, ImportJob, ImportState};
use latchkey_domain::operator::Party;
use latchkey_import::{FirebaseHashes, Format, ImportOptions};
use latchkey_store::{BeginImport, BegunImport};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::signer_keys::SignerKeys;
use super::{IDLE, Imports};
use crate::error::{Error, Result};
use crate::refusal::{IMPORT_CHANGED, IMPORT_OTHER_OF_FILE, IMPORT_RUNNING};

/// An import to begin.
pub struct StartImport<'a> {
    pub format: &'static Format,
    /// Name of the file.
    pub source: String,
    /// SHA-256 of the file.
    pub file: [u8; 32],
    pub options: &'a ImportOptions,
    pub policy: ConflictPolicy,
    pub is_dry_run: bool,
    /// True if the import gets a row; a dry run of the command line gets none.
    pub is_stored: bool,
    /// True for a file of the command line. The same command goes on with its import at once, and another one is told. False
    /// for an upload, standard input or a database, which may have another content under the same name.
    pub takes_over: bool,
}

/// An import that this process writes.
pub struct RunningImport {
    pub job: ImportJob,
    /// True if an interrupted import goes on.
    pub is_resumed: bool,
    pub(super) party: Party,
    pub(super) claim: Uuid,
    pub(super) is_stored: bool,
    pub(super) signer_keys: SignerKeys,
}

impl Imports {
    /// Begins an import. One of the same file with the same options that did not end goes on at its place.
    pub async fn begin(
        &self,
        start: StartImport<'_>,
        party: Party,
        client: Option<&Client>,
    ) -> Result<RunningImport> {
        let now = self.kernel.now();
        let id = ImportId::new(now, self.kernel.id_bytes(now));
        let claim = ImportId::new(now, self.kernel.entropy.bytes()).as_uuid();
        if !start.is_stored {
            let job = ImportJob {
                id,
                state: ImportState::Running,
                from: start.format.name.to_owned(),
                source: start.source,
                is_dry_run: start.is_dry_run,
                policy: start.policy,
                counts: ImportCounts::default(),
                started_at: now,
                active_at: now,
                ended_at: None,
            };
            return Ok(RunningImport {
                job,
                is_resumed: false,
                party,
                claim,
                is_stored: false,
                signer_keys: SignerKeys::default(),
            });
        }
        let mut event = self.kernel.event(AuditKind::ImportStarted, party, client, now);
        event.details.insert("importId".to_owned(), id.to_string().into());
        event.details.insert("from".to_owned(), start.format.name.into());
        event.details.insert("dryRun".to_owned(), start.is_dry_run.into());
        let begin = BeginImport {
            id,
            from: start.format.name.to_owned(),
            digest: digest(&start),
            source: start.source,
            is_dry_run: start.is_dry_run,
            policy: start.policy,
            claim,
            takes_over: start.takes_over,
            idle: IDLE,
            event,
            now,
        };
        let (job, is_resumed) = match self.kernel.store.begin_import(begin).await? {
            BegunImport::Begun(job) => (job, false),
            BegunImport::Resumed(job) => (job, true),
            BegunImport::Running(_) => return Err(Error::Refused(&IMPORT_RUNNING)),
            BegunImport::OtherOfFile(_) => return Err(Error::Refused(&IMPORT_OTHER_OF_FILE)),
            BegunImport::Changed(_) => return Err(Error::Refused(&IMPORT_CHANGED)),
        };
        Ok(RunningImport {
            job,
            is_resumed,
            party,
            claim,
            is_stored: true,
            signer_keys: SignerKeys::default(),
        })
    }
}

/// Returns the SHA-256 of the file and of everything that decides what becomes of a record.
fn digest(start: &StartImport<'_>) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(start.file);
    let options = start.options;
    let flags = [start.is_dry_run, options.is_unverified, options.allow_weak, options.keep_rest];
    digest.update(flags.map(u8::from));
    let hashes = options.firebase.as_ref().map(FirebaseHashes::canonical).unwrap_or_default();
    let texts = [start.format.name, start.policy.as_str(), hashes.as_str()];
    let columns = options.columns.iter().flat_map(|(ours, theirs)| [ours.as_str(), theirs.as_str()]);
    // A format that has realms has no columns, which could not be told from it.
    for text in texts.into_iter().chain(columns).chain(options.realm.as_deref()) {
        digest.update(text);
        digest.update([0]);
    }
    digest.finalize().into()
}
