//! The outbox, except claims.

use latchkey_domain::ids::{LeaseId, MailId};
use latchkey_domain::time::Timestamp;
use latchkey_store::{ListedMail, MailFate, MailState, StoreResult};

use crate::form::{Executor, Repeat, Script, values};
use crate::tables::outbox::{
    LIST, LIST_IN, NEXT_DUE, RETRY, RETRY_ALL, SETTLE_DEAD, SETTLE_RETRY, SETTLE_SENT, read_listed,
};

/// Settles a mail under a lease; `false` if the lease has been lost.
pub(crate) async fn settle<E: Executor>(
    engine: &E,
    id: MailId,
    lease: LeaseId,
    fate: MailFate,
    now: Timestamp,
) -> StoreResult<bool> {
    let (script, settled) = match fate {
        MailFate::Sent => Script::of_change(&SETTLE_SENT, values![id, lease, now]),
        MailFate::RetryAt { at, error } => Script::of_change(&SETTLE_RETRY, values![id, lease, at, error]),
        MailFate::Dead { error } => Script::of_change(&SETTLE_DEAD, values![id, lease, now, error]),
    };
    engine.write(script, Repeat::Never, move |results| Ok(results.affected(settled)? > 0)).await
}

pub(crate) async fn next_due<E: Executor>(engine: &E) -> StoreResult<Option<Timestamp>> {
    let (script, next) = Script::of_read(&NEXT_DUE, Vec::new());
    engine
        .read(script, move |results| results.find(next, |cells| cells.of("outbox").time("next_attempt_at")))
        .await
}

pub(crate) async fn list<E: Executor>(
    engine: &E,
    state: Option<MailState>,
    limit: u32,
) -> StoreResult<Vec<ListedMail>> {
    let (script, all) = match state {
        Some(state) => Script::of_read(&LIST_IN, values![limit, state.as_str()]),
        None => Script::of_read(&LIST, values![limit]),
    };
    engine.read_long(script, move |results| results.list(all, read_listed)).await
}

/// Requeues one dead mail or all; returns their number.
pub(crate) async fn retry<E: Executor>(engine: &E, id: Option<MailId>, now: Timestamp) -> StoreResult<u64> {
    let (script, retried) = match id {
        Some(id) => Script::of_change(&RETRY, values![id, now]),
        None => Script::of_change(&RETRY_ALL, values![now]),
    };
    engine.write(script, Repeat::Never, move |results| results.affected(retried)).await
}
