//! Settlement of a restored database: implementation of [`Restores`].

use async_trait::async_trait;
use latchkey_store::{Restores, SettleRestored, SettledRestored, StoreResult};

use super::Engine;
use crate::form::{Executor, Repeat, Script};
use crate::tables::sessions::ends;
use crate::tables::{audit_events, outbox, settings, signing_keys};

#[async_trait]
impl<E: Executor> Restores for Engine<E> {
    async fn settle_restored(&self, settle: SettleRestored) -> StoreResult<SettledRestored> {
        let SettleRestored { key, mails_since, event, now } = settle;
        let mut writes = Script::default();
        settings::grow_version(&mut writes);
        let sessions = key.map(|key| {
            signing_keys::expire_all(&mut writes, now);
            signing_keys::insert(&mut writes, &key);
            ends::end_of_everybody(&mut writes, now)
        });
        let mails = outbox::bury_written_before(&mut writes, mails_since, now);
        audit_events::record(&mut writes, event)?;
        writes.announce();
        self.write(writes, Repeat::Never, move |results| {
            let sessions = sessions.map(|slot| results.affected(slot)).transpose()?.unwrap_or_default();
            Ok(SettledRestored { sessions, mails: results.affected(mails)? })
        })
        .await
    }
}
