//! Claims of due mails.

use latchkey_domain::mail_schedule::MailSchedule;
use latchkey_domain::time::Timestamp;
use latchkey_store::{ClaimedMail, Lease, StoreResult};

use crate::form::{Executor, Repeat, Script};
use crate::tables::outbox;

/// Leases the oldest due mails and reads them.
pub(crate) async fn claim_mails<E: Executor>(
    engine: &E,
    lease: Lease,
    schedule: &MailSchedule,
    limit: u32,
    now: Timestamp,
) -> StoreResult<Vec<ClaimedMail>> {
    let mut script = Script::default();
    outbox::claim(&mut script, lease, &schedule.due_terms(now), limit);
    let claimed = outbox::list_claimed(&mut script, lease);
    engine.write(script, Repeat::Never, move |results| results.list(claimed, outbox::read_claimed)).await
}
