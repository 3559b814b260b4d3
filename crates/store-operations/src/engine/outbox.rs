//! The outbox.

use async_trait::async_trait;
use latchkey_domain::ids::{LeaseId, MailId};
use latchkey_domain::mail_schedule::MailSchedule;
use latchkey_domain::time::Timestamp;
use latchkey_store::{ClaimedMail, Lease, ListedMail, MailFate, MailState, Outbox, StoreResult};

use super::Engine;
use crate::form::Executor;
use crate::operations::{claim_mails, outbox};

#[async_trait]
impl<E: Executor> Outbox for Engine<E> {
    async fn claim_mails(
        &self,
        lease: Lease,
        schedule: &MailSchedule,
        limit: u32,
        now: Timestamp,
    ) -> StoreResult<Vec<ClaimedMail>> {
        claim_mails::claim_mails(&self.0, lease, schedule, limit, now).await
    }

    async fn settle_mail(
        &self,
        id: MailId,
        lease: LeaseId,
        fate: MailFate,
        now: Timestamp,
    ) -> StoreResult<bool> {
        outbox::settle(&self.0, id, lease, fate, now).await
    }

    async fn next_mail_due(&self) -> StoreResult<Option<Timestamp>> {
        outbox::next_due(&self.0).await
    }

    async fn list_mails(&self, state: Option<MailState>, limit: u32) -> StoreResult<Vec<ListedMail>> {
        outbox::list(&self.0, state, limit).await
    }

    async fn retry_mails(&self, id: Option<MailId>, now: Timestamp) -> StoreResult<u64> {
        outbox::retry(&self.0, id, now).await
    }
}
