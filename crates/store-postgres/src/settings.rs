//! Settings, and the version that tells other instances of a change.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::time::Timestamp;
use latchkey_store::{SettingChange, Settings, StoreResult, StoredSettings};

use crate::audit;
use crate::errors::{EngineFault, Fallible, driver};
use crate::rows::Cells;
use crate::script::{Answer, Script};
use crate::store::PostgresStore;
use crate::values::{Value, values};

const LIST_SETTINGS: &str = "
    SELECT s.key, s.value, v.version
    FROM shared_version AS v LEFT JOIN settings AS s ON TRUE
    WHERE v.id = 1 ORDER BY s.key";
const SAVE_SETTINGS: &str = "
    INSERT INTO settings (key, value, updated_at) SELECT n.key, n.value, $3 FROM unnest($1, $2) AS n (key, value)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at";
const DELETE_SETTINGS: &str = "DELETE FROM settings WHERE key = ANY($1)";
const SHARED_VERSION: &str = "SELECT version FROM shared_version WHERE id = 1";
const LOCK_VERSION: &str = "SELECT version FROM shared_version WHERE id = 1 FOR UPDATE";
const GROW_VERSION: &str = "UPDATE shared_version SET version = version + 1 WHERE id = 1";

/// The migration that makes the table.
const MADE_BY: &str = "0007_settings";

impl PostgresStore {
    /// The settings that the database holds, whether or not its schema is up to date; changes nothing. `None` where it
    /// holds none yet.
    pub async fn stored_settings(&self) -> StoreResult<Option<StoredSettings>> {
        if self.check_migrations().await?.contains(&MADE_BY) {
            return Ok(None);
        }
        self.load_settings().await.map(Some)
    }
}

#[async_trait]
impl Settings for PostgresStore {
    async fn load_settings(&self) -> StoreResult<StoredSettings> {
        Ok(read_settings(&self.ask(LIST_SETTINGS, Vec::new()).await?)?)
    }

    async fn save_settings(
        &self,
        changes: &[SettingChange],
        event: AuditEvent,
        now: Timestamp,
    ) -> StoreResult<()> {
        let mut writes = Script::default();
        grow_version(&mut writes); // first: it makes changes of settings take turns
        save(&mut writes, changes, now);
        audit::record(&mut writes, event)?;
        self.announce(&mut writes);
        self.write(&writes).await?;
        Ok(())
    }

    async fn shared_version(&self) -> StoreResult<i64> {
        let found = self.ask(SHARED_VERSION, Vec::new()).await?;
        let version = found.find(|row| Cells::new(row, "shared_version").int("version"))?;
        version.ok_or_else(|| driver(EngineFault::NoRow))
    }
}

/// Tells other instances that settings or keys changed.
pub(crate) fn grow_version(writes: &mut Script) {
    writes.add(GROW_VERSION, Vec::new());
}

/// Makes changes of settings and keys take turns.
pub(crate) fn lock_version(reads: &mut Script) {
    reads.add(LOCK_VERSION, Vec::new());
}

/// The last change of a key counts.
fn save(writes: &mut Script, changes: &[SettingChange], now: Timestamp) {
    let (mut keys, mut texts, mut gone) = (Vec::new(), Vec::new(), Vec::new());
    for (at, change) in changes.iter().enumerate() {
        if changes[at + 1..].iter().any(|later| later.key == change.key) {
            continue;
        }
        match &change.value {
            Some(value) => {
                keys.push(Some(change.key.clone()));
                texts.push(Some(value.to_string()));
            }
            None => gone.push(Some(change.key.clone())),
        }
    }
    writes.add(DELETE_SETTINGS, vec![Value::Texts(gone)]);
    writes.add(SAVE_SETTINGS, values![Value::Texts(keys), Value::Texts(texts), now]);
}

/// One statement, so that the version is that of the values.
fn read_settings(found: &Answer) -> Fallible<StoredSettings> {
    let mut settings = StoredSettings::default();
    for row in &found.rows {
        let mut cells = Cells::new(row, "settings");
        if let Some(key) = cells.maybe_text("key")? {
            settings.values.push((key, cells.json("value")?));
        } else {
            cells.maybe_text("value")?;
        }
        settings.version = cells.of("shared_version").int("version")?;
    }
    Ok(settings)
}
