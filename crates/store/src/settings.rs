//! Settings that an admin edits while the service runs.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::time::Timestamp;
use serde_json::Value;

use crate::error::StoreResult;

/// The settings as they stand.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StoredSettings {
    /// Grows with every change of settings or signing keys, by whichever process.
    pub version: i64,
    /// Key (as in the settings file, for example `auth.disable_sign_up`) and value, sorted by key.
    pub values: Vec<(String, Value)>,
}

/// One change of a setting.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingChange {
    /// Its key.
    pub key: String,
    /// Its new value; `None` goes back to the default.
    pub value: Option<Value>,
}

/// Settings.
#[async_trait]
pub trait Settings {
    /// All settings.
    async fn load_settings(&self) -> StoreResult<StoredSettings>;

    /// Changes settings, all or none, and grows the version.
    async fn save_settings(
        &self,
        changes: &[SettingChange],
        event: AuditEvent,
        now: Timestamp,
    ) -> StoreResult<()>;

    /// The version alone: what other processes poll.
    async fn shared_version(&self) -> StoreResult<i64>;
}
