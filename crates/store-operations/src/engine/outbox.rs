//! Operations on the outbox of mails: implementation of [`Outbox`].

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::{LeaseId, MailId, UserId};
use latchkey_domain::mail_schedule::MailSchedule;
use latchkey_domain::time::Timestamp;
use latchkey_store::{
    ClaimedMail, Lease, ListMails, ListedMail, MailFate, MailKey, MailPage, MailPosition, MailState, Outbox,
    RetryMail, StoreResult, StoredMail,
};

use super::Engine;
use crate::form::{Cells, Decided, Executor, Repeat, Results, Script, values};
use crate::tables::audit_events;
use crate::tables::outbox::{
    self, LIST_OF_USER, NEXT_DUE, SETTLE_DEAD, SETTLE_RETRY, SETTLE_SENT, read_listed, read_stored,
};

#[crate::measured]
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

    async fn list_mails(&self, question: &ListMails) -> StoreResult<MailPage> {
        let mut reads = Script::default();
        let counts = outbox::count(&mut reads);
        let state = question.state.map(MailState::as_str);
        let to = question.to.as_ref().map(|to| outbox::count_to(&mut reads, &outbox::typed(to), state));
        let page = outbox::list(&mut reads, question);
        let (state, limit) = (question.state, question.limit as usize);
        let goes_up = matches!(question.position, MailPosition::Before(_));
        let finish = move |results: &Results<'_>| {
            let [queued, sent, dead] = results.find(counts, read_counts)?.unwrap_or_default();
            let total = match (to, state) {
                (Some(to), _) => {
                    results.find(to, |cells| cells.of("outbox").count("total"))?.unwrap_or_default()
                }
                (None, Some(MailState::Queued)) => queued,
                (None, Some(MailState::Sent)) => sent,
                (None, Some(MailState::Dead)) => dead,
                (None, Some(MailState::Decoy)) => 0,
                (None, None) => queued + sent + dead,
            };
            let mut mails = results.list(page, read_listed)?;
            mails.retain(|mail| mail.state != MailState::Decoy);
            let has_more = mails.len() > limit;
            mails.truncate(limit);
            if goes_up {
                mails.reverse();
            }
            Ok(MailPage { mails, total: total.into(), queued: queued.into(), dead: dead.into(), has_more })
        };
        self.read_long(reads, finish).await
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

    async fn find_mail(&self, id: MailId) -> StoreResult<Option<StoredMail>> {
        let mut reads = Script::default();
        let found = outbox::find(&mut reads, id);
        self.read(reads, move |results| results.find(found, read_stored)).await
    }

    async fn list_dead_mails(&self, after: Option<MailKey>, limit: u32) -> StoreResult<Vec<StoredMail>> {
        let mut reads = Script::default();
        let all = outbox::list_dead(&mut reads, after, limit);
        self.read_long(reads, move |results| results.list(all, read_stored)).await
    }

    async fn retry_mails(&self, mut retries: Vec<RetryMail>, now: Timestamp) -> StoreResult<u64> {
        retries.sort_by_key(|retry| retry.id); // The fixed order of locks prevents deadlocks.
        let mut reads = Script::default();
        let locks: Vec<_> = retries.iter().map(|retry| outbox::lock_dead(&mut reads, retry.id)).collect();
        self.transact(reads, move |results| {
            let (mut writes, mut queued) = (Script::default(), 0);
            for (RetryMail { id, event }, lock) in retries.iter().zip(&locks) {
                let Some(user_id) = results.find(*lock, |cells| cells.of("outbox").maybe_id("user_id"))?
                else {
                    continue;
                };
                outbox::retry(&mut writes, *id, now);
                audit_events::record(&mut writes, AuditEvent { user_id, ..event.clone() })?;
                queued += 1;
            }
            Ok(Decided::done(writes, queued))
        })
        .await
    }
}

/// Reads the numbers of mails that wait, that were sent, and that are dead.
fn read_counts(cells: &mut Cells<'_>) -> StoreResult<[u32; 3]> {
    cells.of("outbox");
    Ok([cells.count("queued")?, cells.count("sent")?, cells.count("dead")?])
}
