//! Reading the audit trail.

use latchkey_domain::ids::EventId;
use latchkey_store::EventPage;

use crate::error::Result;
use crate::service::Service;

impl Service {
    /// Events before an id, newest first.
    pub async fn list_events(&self, before: Option<EventId>, limit: u32) -> Result<EventPage> {
        Ok(self.store.list_events(before, limit).await?)
    }
}
