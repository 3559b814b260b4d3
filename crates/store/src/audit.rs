//! Contract for the audit trail: recording, listing and deleting audit events.

use std::time::Duration;

use async_trait::async_trait;
use latchkey_domain::audit::{AuditEvent, AuditFilter, AuditKind};
use latchkey_domain::ids::{EventId, UserId};
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;

/// Filter and page of the events of one account.
#[derive(Debug, Clone, Copy)]
pub struct ListOwnEvents {
    /// Id of the account's user.
    pub user_id: UserId,
    /// Kind of the listed events; `None` lists all kinds but [`AuditKind::HIDDEN_FROM_OWNER`].
    pub only: Option<AuditKind>,
    /// Time after which the listed events happened.
    pub since: Timestamp,
    /// Lists only events earlier than this one; `None` lists the newest.
    pub before: Option<EventId>,
    /// Maximum number of events on the page.
    pub limit: u32,
}

/// Number of events that a filter inspects at once, unless an index serves all of it.
pub const EVENTS_INSPECTED: u32 = 2_000;

/// Filter and page of the audit log.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListEvents {
    /// Conditions that the listed events meet.
    pub filter: AuditFilter,
    /// Lists only events with ids below this one; `None` lists the newest.
    pub before: Option<EventId>,
    /// Lists the events next above this id, in place of the newest.
    pub after: Option<EventId>,
    /// Maximum number of events on the page.
    pub limit: u32,
}

/// A page of audit events.
#[derive(Debug, Clone, PartialEq)]
pub struct EventPage {
    /// Audit events of the page, newest first.
    pub events: Vec<AuditEvent>,
    /// Keyset cursor for the page that goes on in the same direction: `before` of the next request, or `after` if the
    /// request had it. `None` on the last page.
    pub next: Option<EventId>,
}

/// Number of the events that pass a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventTotal {
    /// The exact number.
    Exact(u64),
    /// There are more than this number, up to which they were counted.
    MoreThan(u64),
    /// There are this number or more: an index serves only a part of the filter, and not all of its events were inspected.
    AtLeast(u64),
}

/// The audit trail. Most events are recorded by the store operations that cause them, in the same transaction.
#[async_trait]
pub trait Audit {
    /// Records an audit event that no other store operation records.
    async fn record_event(&self, event: AuditEvent) -> StoreResult<()>;

    /// Lists audit events, newest first, in time that does not depend on the number of events. One condition of the filter
    /// and its times select events by an index; of these, at most [`EVENTS_INSPECTED`] are inspected for the other
    /// conditions. So a page may have fewer events than `limit`, even none, although there is a next page.
    async fn list_events(&self, list: ListEvents) -> StoreResult<EventPage>;

    /// Counts the events that pass a filter, in time that does not depend on their number: an index counts at most
    /// `limit`, and at most a tenth of that are inspected for the other conditions.
    async fn count_events(&self, filter: AuditFilter, limit: u32) -> StoreResult<EventTotal>;

    /// Lists the events of one account, newest first, in time that does not depend on the number of other events. Returns
    /// `None` if the account has no event with the id `before`.
    async fn list_own_events(&self, list: ListOwnEvents) -> StoreResult<Option<EventPage>>;

    /// Deletes events older than `retention`, and failure events without a user after
    /// [`crate::ANONYMOUS_FAILURE_RETENTION`]; at most [`crate::PURGE_BATCH`] of each. Returns the number of deleted
    /// events.
    async fn purge_events(&self, retention: Duration, now: Timestamp) -> StoreResult<u64>;
}
