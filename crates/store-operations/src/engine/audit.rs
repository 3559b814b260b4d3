//! The audit trail.

use std::time::Duration;

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::EventId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{Audit, EventPage, StoreResult};

use super::Engine;
use crate::form::Executor;
use crate::operations::audit;

#[async_trait]
impl<E: Executor> Audit for Engine<E> {
    async fn record_event(&self, event: AuditEvent) -> StoreResult<()> {
        audit::record(&self.0, event).await
    }

    async fn list_events(&self, before: Option<EventId>, limit: u32) -> StoreResult<EventPage> {
        audit::list(&self.0, before, limit).await
    }

    async fn purge_events(&self, retention: Duration, now: Timestamp) -> StoreResult<u64> {
        audit::purge(&self.0, retention, now).await
    }
}
