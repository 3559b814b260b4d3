//! Reading the audit trail.

use latchkey_domain::ids::EventId;
use latchkey_store::EventPage;

use super::Admin;
use crate::error::Result;

impl Admin {
    /// Events before an id, newest first.
    pub async fn list_events(&self, before: Option<EventId>, limit: u32) -> Result<EventPage> {
        Ok(self.kernel.store.list_events(before, limit).await?)
    }
}
