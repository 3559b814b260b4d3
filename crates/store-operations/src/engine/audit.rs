//! Operations of the audit log: implementation of [`Audit`].

use std::time::Duration;

use async_trait::async_trait;
use latchkey_domain::audit::{AuditEvent, AuditFilter};
use latchkey_domain::time::Timestamp;
use latchkey_store::{Audit, EventPage, EventTotal, ListEvents, ListOwnEvents, StoreResult};

use super::Engine;
use crate::form::{Executor, Repeat, Results, Script, Slot};
use crate::tables::audit_events;
use crate::tables::audit_events::filters::{self as audit_filters, Counting};

#[crate::measured]
#[async_trait]
impl<E: Executor> Audit for Engine<E> {
    async fn record_event(&self, event: AuditEvent) -> StoreResult<()> {
        let mut script = Script::default();
        audit_events::record(&mut script, event)?;
        self.write(script, Repeat::Never, |_| Ok(())).await
    }

    async fn list_events(&self, list: ListEvents) -> StoreResult<EventPage> {
        let mut script = Script::default();
        let (found, inspected) = audit_filters::list(&mut script, &list);
        let finish = move |results: &Results<'_>| {
            let events = results.list(found, audit_events::read_event)?;
            Ok(passing(&list, events, inspected))
        };
        self.read_long(script, finish).await
    }

    async fn count_events(&self, filter: AuditFilter, limit: u32) -> StoreResult<EventTotal> {
        let mut script = Script::default();
        let counting = audit_filters::count(&mut script, &filter, limit);
        self.read_long(script, move |results| total(results, &counting, limit)).await
    }

    async fn list_own_events(&self, list: ListOwnEvents) -> StoreResult<Option<EventPage>> {
        let mut script = Script::default();
        let before = list.before.map(|id| audit_events::find_of_user(&mut script, id, list.user_id));
        let found = audit_events::list_of_user(&mut script, &list, i64::from(list.limit) + 1);
        let finish = move |results: &Results<'_>| match before {
            Some(before) if !results.any(before)? => Ok(None),
            _ => page(results, found, list.limit).map(Some),
        };
        self.read_long(script, finish).await
    }

    async fn purge_events(&self, retention: Duration, now: Timestamp) -> StoreResult<u64> {
        let mut script = Script::default();
        let [all, failures] = audit_events::purge(&mut script, retention, now);
        let finish = move |results: &Results<'_>| Ok(results.affected(all)? + results.affected(failures)?);
        self.write(script, Repeat::Harmless, finish).await
    }
}

/// Decodes the number of the events that pass the filter, counted up to a limit.
fn total(results: &Results<'_>, counting: &Counting, limit: u32) -> StoreResult<EventTotal> {
    match counting {
        Counting::Counted(slot) => {
            let count = results.find(*slot, |cells| cells.of("audit_events").count("count"))?;
            let count = count.unwrap_or_default();
            let is_over = count > limit;
            let total = u64::from(count.min(limit));
            Ok(if is_over { EventTotal::MoreThan(total) } else { EventTotal::Exact(total) })
        }
        Counting::Inspected(slot, limit) => {
            let counts = results.find(*slot, |cells| {
                let cells = cells.of("audit_events");
                Ok((cells.count("count")?, cells.count("passing")?))
            })?;
            let (inspected, passing) = counts.unwrap_or_default();
            let (is_all, passing) = (inspected < *limit, u64::from(passing));
            Ok(if is_all { EventTotal::Exact(passing) } else { EventTotal::AtLeast(passing) })
        }
    }
}

/// Returns the page of the events that pass the filter. `events` are the next ones of an index, at most `inspected`.
fn passing(list: &ListEvents, events: Vec<AuditEvent>, inspected: u32) -> EventPage {
    let limit = list.limit as usize;
    let inspected_to = events.last().filter(|_| events.len() == inspected as usize).map(|event| event.id);
    let mut passing: Vec<_> = events.into_iter().filter(|event| list.filter.passes(event)).collect();
    let next = if passing.len() > limit {
        passing.truncate(limit);
        passing.last().map(|event| event.id)
    } else {
        inspected_to
    };
    if list.after.is_some() {
        passing.reverse();
    }
    EventPage { events: passing, next }
}

/// Decodes a page of events. The statement reads one row more than the limit: that row exists if
/// there is a next page.
fn page(results: &Results<'_>, found: Slot, limit: u32) -> StoreResult<EventPage> {
    let mut events = results.list(found, audit_events::read_event)?;
    let has_more = events.len() > limit as usize;
    events.truncate(limit as usize);
    let next = if has_more { events.last().map(|event| event.id) } else { None };
    Ok(EventPage { events, next })
}
