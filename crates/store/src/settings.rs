//! Settings edited by an admin at run time.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::time::Timestamp;
use serde_json::Value;

use crate::error::StoreResult;

/// Stored settings.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StoredSettings {
    /// Incremented by every change of settings, providers or signing keys in any process.
    pub version: i64,
    /// Key (as in the settings file, for example `auth.disable_sign_up`) and value, sorted by key.
    pub values: Vec<(String, Value)>,
}

/// A change of one setting.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingChange {
    /// Key of the setting.
    pub key: String,
    /// New value; `None` resets to the default.
    pub value: Option<Value>,
}

/// Settings.
#[async_trait]
pub trait Settings {
    /// All stored settings.
    async fn load_settings(&self) -> StoreResult<StoredSettings>;

    /// Changes settings, all or none, and increments the version.
    async fn save_settings(
        &self,
        changes: &[SettingChange],
        event: AuditEvent,
        now: Timestamp,
    ) -> StoreResult<()>;

    /// The version alone, polled by other processes.
    async fn shared_version(&self) -> StoreResult<i64>;
}
