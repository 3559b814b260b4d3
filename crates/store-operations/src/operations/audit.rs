//! The audit trail.

use std::time::Duration;

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::EventId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{EventPage, StoreResult};

use crate::form::{Executor, Repeat, Results, Script};
use crate::tables::audit_events;

/// Writes an event that no other operation writes.
pub(crate) async fn record<E: Executor>(engine: &E, event: AuditEvent) -> StoreResult<()> {
    let mut script = Script::default();
    audit_events::record(&mut script, event)?;
    engine.write(script, Repeat::Never, |_| Ok(())).await
}

/// Lists events before an id (or from the newest), newest first.
pub(crate) async fn list<E: Executor>(
    engine: &E,
    before: Option<EventId>,
    limit: u32,
) -> StoreResult<EventPage> {
    let mut script = Script::default();
    // One row more than requested tells if there is a next page.
    let found = audit_events::list(&mut script, before, i64::from(limit) + 1);
    let limit = limit as usize;
    engine
        .read_long(script, move |results| {
            let mut events = results.list(found, audit_events::read_event)?;
            let has_more = events.len() > limit;
            events.truncate(limit);
            let next = if has_more { events.last().map(|event| event.id) } else { None };
            Ok(EventPage { events, next })
        })
        .await
}

/// Deletes events past their retention.
pub(crate) async fn purge<E: Executor>(engine: &E, retention: Duration, now: Timestamp) -> StoreResult<u64> {
    let mut script = Script::default();
    let [all, failures] = audit_events::purge(&mut script, retention, now);
    let finish = move |results: &Results<'_>| Ok(results.affected(all)? + results.affected(failures)?);
    engine.write(script, Repeat::Harmless, finish).await
}
