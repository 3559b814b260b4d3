//! The listing of the audit log.

use latchkey_domain::ids::EventId;
use latchkey_store::EventPage;

use super::Admin;
use crate::error::Result;

impl Admin {
    /// Returns a page of audit events, newest first: those older than the event `before`, or the newest with `None`.
    pub async fn list_events(&self, before: Option<EventId>, limit: u32) -> Result<EventPage> {
        Ok(self.kernel.store.list_events(before, limit).await?)
    }
}
