//! Tables `settings` and `shared_version`: settings changed by an admin, and a version number, which every change of
//! settings, providers or signing keys increments. Other instances poll the version.

use latchkey_domain::time::Timestamp;
use latchkey_store::{SettingChange, StoreError, StoreResult, StoredSettings};

use crate::bulk::{Table, columns};
use crate::form::{Results, Script, Slot, statements, values};

pub const TABLE: Table = Table::new("settings", 1, columns! { text key, text value, int updated_at });

pub const SHARED_VERSION: Table = Table::new("shared_version", 1, columns! { int id, int version }).seeded();

statements! {
    /// Reads the version and all settings in one snapshot.
    LIST = "
    SELECT s.key, s.value, v.version
    FROM shared_version AS v LEFT JOIN settings AS s ON TRUE
    WHERE v.id = 1 ORDER BY s.key";
    SAVE = "
    INSERT INTO settings (key, value, updated_at) VALUES ($1, $2, $3)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at";
    DELETE = "DELETE FROM settings WHERE key = $1";
    FIND_VERSION = "SELECT version FROM shared_version WHERE id = 1";
    /// Locks the version, so that changes of settings, providers and keys run one after another.
    LOCK_VERSION: read lock_version() = "SELECT version FROM shared_version WHERE id = 1 FOR UPDATE";
    GROW_VERSION: change grow_version() = "UPDATE shared_version SET version = version + 1 WHERE id = 1";
}

pub(crate) fn save(writes: &mut Script, change: &SettingChange, now: Timestamp) {
    match &change.value {
        Some(value) => writes.change(&SAVE, values![change.key.as_str(), value.to_string(), now]),
        None => writes.change(&DELETE, values![change.key.as_str()]),
    };
}

pub fn settings(results: &Results<'_>, slot: Slot) -> StoreResult<StoredSettings> {
    let mut settings = StoredSettings::default();
    results.list(slot, |cells| {
        if let Some(key) = cells.of("settings").maybe_text("key")? {
            settings.values.push((key, cells.json("value")?));
        } else {
            cells.maybe_text("value")?;
        }
        settings.version = cells.of("shared_version").int("version")?;
        Ok(())
    })?;
    Ok(settings)
}

pub(crate) fn version(results: &Results<'_>, slot: Slot) -> StoreResult<i64> {
    let version = results.find(slot, |cells| cells.of("shared_version").int("version"))?;
    version.ok_or(StoreError::Corrupt { table: "shared_version", column: "version" })
}
