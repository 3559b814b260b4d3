//! Contract for the audit trail: recording, listing and deleting audit events.

use std::time::Duration;

use async_trait::async_trait;
use latchkey_domain::audit::{AuditEvent, AuditKind};
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

/// A page of audit events.
#[derive(Debug, Clone, PartialEq)]
pub struct EventPage {
    /// Audit events of the page, newest first.
    pub events: Vec<AuditEvent>,
    /// Keyset cursor for the next page: the `before` argument of [`Audit::list_events`]. `None` on the last page.
    pub next: Option<EventId>,
}

/// The audit trail. Most events are recorded by the store operations that cause them, in the same transaction.
#[async_trait]
pub trait Audit {
    /// Records an audit event that no other store operation records.
    async fn record_event(&self, event: AuditEvent) -> StoreResult<()>;

    /// Lists audit events, newest first, at most `limit`: those with ids below `before`, or the newest ones if `before`
    /// is `None`.
    async fn list_events(&self, before: Option<EventId>, limit: u32) -> StoreResult<EventPage>;

    /// Lists the events of one account, newest first, in time that does not depend on the number of other events. Returns
    /// `None` if the account has no event with the id `before`.
    async fn list_own_events(&self, list: ListOwnEvents) -> StoreResult<Option<EventPage>>;

    /// Deletes events older than `retention`, and failure events without a user after
    /// [`crate::ANONYMOUS_FAILURE_RETENTION`]; at most [`crate::PURGE_BATCH`] of each. Returns the number of deleted
    /// events.
    async fn purge_events(&self, retention: Duration, now: Timestamp) -> StoreResult<u64>;
}
