//! Settlement of a restored database: implementation of [`Restores`].

use async_trait::async_trait;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::time::Timestamp;
use latchkey_store::{Restores, SettleRestored, SettledRestored, StoreResult};

use super::Engine;
use crate::form::{Executor, Repeat, Script, Slot};
use crate::tables::sessions::ends;
use crate::tables::{
    audit_events, challenges, codes, email_changes, link_tokens, oauth_codes, oauth_flows, outbox,
    page_codes, settings, signing_keys,
};

#[async_trait]
impl<E: Executor> Restores for Engine<E> {
    async fn settle_restored(&self, settle: SettleRestored) -> StoreResult<SettledRestored> {
        let SettleRestored { key, mails_since, event, now } = settle;
        let mut writes = Script::default();
        settings::grow_version(&mut writes);
        let mut mails = vec![outbox::bury_written_before(&mut writes, mails_since, now)];
        let sessions = key.map(|key| {
            signing_keys::expire_all(&mut writes, now);
            signing_keys::insert(&mut writes, &key);
            mails.extend(end_proofs(&mut writes, now));
            ends::end_of_everybody(&mut writes, now)
        });
        audit_events::record(&mut writes, event)?;
        writes.announce();
        self.write(writes, Repeat::Never, move |results| {
            let sessions = sessions.map(|slot| results.affected(slot)).transpose()?.unwrap_or_default();
            let mails = mails.into_iter().map(|slot| results.affected(slot)).sum::<StoreResult<u64>>()?;
            Ok(SettledRestored { sessions, mails })
        })
        .await
    }
}

/// Ends whatever opens a session or proves an address, because the backup has it as unused: open challenges, mailed codes
/// and links, changes of address, sign-ins at providers and their codes, codes of page sessions. Returns the slots of the
/// queued mails that carry one.
///
/// These stay: undo links, which open no session and let an owner reverse what a thief changed; activation links of
/// operators, which open nothing without a sign-in; counters of wrong attempts; sign-up attempts, which are only compared
/// with, and by which abandoned sign-ups are found; marks of used tokens and ceremonies, which refuse.
fn end_proofs(writes: &mut Script, now: Timestamp) -> Vec<Slot> {
    challenges::delete_of_everybody(writes);
    codes::delete_codes_of_everybody(writes);
    link_tokens::supersede_of_everybody(writes, now);
    email_changes::delete_of_everybody(writes);
    oauth_flows::mark_used_of_everybody(writes, now);
    oauth_codes::delete_of_everybody(writes);
    page_codes::delete_of_everybody(writes);
    let kinds = MailKind::ALL.iter().filter(|kind| kind.proves_mailbox());
    kinds.map(|kind| outbox::bury_kind(writes, *kind, now)).collect()
}
