//! Contract for settings that admins change at run time.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::time::Timestamp;
use serde_json::Value;

use crate::error::StoreResult;

/// All stored settings, with the version shared by the instances.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StoredSettings {
    /// Version of settings, identity providers and signing keys, incremented by every change. Instances poll it.
    pub version: i64,
    /// Keys as in the settings file, for example `auth.disable_sign_up`, with their values; sorted by key.
    pub values: Vec<(String, Value)>,
}

/// A change of one setting.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingChange {
    /// Key of the setting, as in the settings file.
    pub key: String,
    /// New value; `None` resets the setting to its default.
    pub value: Option<Value>,
}

/// Settings that admins change at run time.
#[async_trait]
pub trait Settings {
    /// Loads all stored settings and their version.
    async fn load_settings(&self) -> StoreResult<StoredSettings>;

    /// Changes all the given settings or none, increments the version and records the audit event.
    async fn save_settings(
        &self,
        changes: &[SettingChange],
        event: AuditEvent,
        now: Timestamp,
    ) -> StoreResult<()>;

    /// Loads only the version, which instances poll.
    async fn shared_version(&self) -> StoreResult<i64>;
}
