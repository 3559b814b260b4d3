//! Settings.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::time::Timestamp;
use latchkey_store::{SettingChange, Settings, StoreResult, StoredSettings};

use super::Engine;
use crate::form::Executor;
use crate::operations::settings;

#[async_trait]
impl<E: Executor> Settings for Engine<E> {
    async fn load_settings(&self) -> StoreResult<StoredSettings> {
        settings::load(&self.0).await
    }

    async fn save_settings(
        &self,
        changes: &[SettingChange],
        event: AuditEvent,
        now: Timestamp,
    ) -> StoreResult<()> {
        settings::save(&self.0, changes, event, now).await
    }

    async fn shared_version(&self) -> StoreResult<i64> {
        settings::version(&self.0).await
    }
}
