//! Operations on the outbox of mails: implementation of [`Outbox`].

use async_trait::async_trait;
use latchkey_domain::ids::{LeaseId, MailId, UserId};
use latchkey_domain::mail_schedule::MailSchedule;
use latchkey_domain::time::Timestamp;
use latchkey_store::{ClaimedMail, Lease, ListedMail, MailFate, MailState, Outbox, StoreResult};

use super::Engine;
use crate::form::{Executor, Repeat, Script, values};
use crate::tables::outbox::{
    self, LIST, LIST_IN, LIST_OF_USER, NEXT_DUE, RETRY, RETRY_ALL, SETTLE_DEAD, SETTLE_RETRY, SETTLE_SENT,
    read_listed,
};

#[async_trait]
impl<E: Executor> Outbox for Engine<E> {
    async fn claim_mails(
        &self,
        lease: Lease,
        schedule: &MailSchedule,
        limit: u32,
        now: Timestamp,
    ) -> StoreResult<Vec<ClaimedMail>> {
        let mut script = Script::default();
        outbox::claim(&mut script, lease, &schedule.due_terms(now), limit);
        let claimed = outbox::list_claimed(&mut script, lease);
        self.write(script, Repeat::Never, move |results| results.list(claimed, outbox::read_claimed)).await
    }

    async fn settle_mail(
        &self,
        id: MailId,
        lease: LeaseId,
        fate: MailFate,
        now: Timestamp,
    ) -> StoreResult<bool> {
        let (script, settled) = match fate {
            MailFate::Sent => Script::of_change(&SETTLE_SENT, values![id, lease, now]),
            MailFate::RetryAt { at, error } => {
                Script::of_change(&SETTLE_RETRY, values![id, lease, at, error])
            }
            MailFate::Dead { error } => Script::of_change(&SETTLE_DEAD, values![id, lease, now, error]),
        };
        self.write(script, Repeat::Never, move |results| Ok(results.affected(settled)? > 0)).await
    }

    async fn next_mail_due(&self) -> StoreResult<Option<Timestamp>> {
        let (script, next) = Script::of_read(&NEXT_DUE, Vec::new());
        self.read(script, move |results| {
            results.find(next, |cells| cells.of("outbox").time("next_attempt_at"))
        })
        .await
    }

    async fn list_mails(&self, state: Option<MailState>, limit: u32) -> StoreResult<Vec<ListedMail>> {
        let (script, all) = match state {
            Some(state) => Script::of_read(&LIST_IN, values![limit, state.as_str()]),
            None => Script::of_read(&LIST, values![limit]),
        };
        self.read_long(script, move |results| results.list(all, read_listed)).await
    }

    async fn list_mails_of(
        &self,
        user_id: UserId,
        since: Timestamp,
        limit: u32,
    ) -> StoreResult<Vec<ListedMail>> {
        let (script, all) = Script::of_read(&LIST_OF_USER, values![user_id, since, limit]);
        self.read_long(script, move |results| results.list(all, read_listed)).await
    }

    async fn retry_mails(&self, id: Option<MailId>, now: Timestamp) -> StoreResult<u64> {
        let (script, retried) = match id {
            Some(id) => Script::of_change(&RETRY, values![id, now]),
            None => Script::of_change(&RETRY_ALL, values![now]),
        };
        self.write(script, Repeat::Never, move |results| results.affected(retried)).await
    }
}
