//! The audit trail.

use std::time::Duration;

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::EventId;
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;

/// A page of events.
#[derive(Debug, Clone, PartialEq)]
pub struct EventPage {
    /// Events, newest first.
    pub events: Vec<AuditEvent>,
    /// Keyset cursor of the next page, passed as `before`; `None` at the end.
    pub next: Option<EventId>,
}

/// The audit trail. Most events are written by the operations that cause them.
#[async_trait]
pub trait Audit {
    /// Writes an event that no other operation writes.
    async fn record_event(&self, event: AuditEvent) -> StoreResult<()>;

    /// Events before an id (or from the newest), newest first.
    async fn list_events(&self, before: Option<EventId>, limit: u32) -> StoreResult<EventPage>;

    /// Deletes events older than the retention, and failures about no account after
    /// [`crate::ANONYMOUS_FAILURE_RETENTION`]; at most [`crate::PURGE_BATCH`] of each. Returns the number of
    /// deleted events.
    async fn purge_events(&self, retention: Duration, now: Timestamp) -> StoreResult<u64>;
}
