//! Settings, and the version that tells other processes of a change.

use std::path::Path;

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::time::Timestamp;
use latchkey_store::{SettingChange, Settings, StoreResult, StoredSettings};
use rusqlite::{Connection, params};

use crate::audit;
use crate::errors::{Fallible, unavailable};
use crate::rows::Cells;
use crate::statements::{execute, number};
use crate::store::SqliteStore;
use crate::{migrations, open};

const LIST_SETTINGS: &str = "
    SELECT s.key, s.value, v.version
    FROM shared_version AS v LEFT JOIN settings AS s ON 1 = 1
    WHERE v.id = 1 ORDER BY s.key";
const SAVE_SETTING: &str = "
    INSERT INTO settings (key, value, updated_at) VALUES (?1, ?2, ?3)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at";
const DELETE_SETTING: &str = "DELETE FROM settings WHERE key = ?1";
const SHARED_VERSION: &str = "SELECT version FROM shared_version WHERE id = 1";
const GROW_VERSION: &str = "UPDATE shared_version SET version = version + 1 WHERE id = 1";

/// The migration that makes the table.
const MADE_BY: &str = "0007_settings";

impl SqliteStore {
    /// The settings that a file holds, without opening it for work: nothing is made, migrated or written, and a service
    /// may have it open. `None` where there is no file, or none with settings yet.
    pub fn stored_settings(path: &Path) -> StoreResult<Option<StoredSettings>> {
        if !path.try_exists().map_err(unavailable)? {
            return Ok(None);
        }
        let conn = open::onlooker(path)?;
        if migrations::check(&conn)?.contains(&MADE_BY) {
            return Ok(None);
        }
        Ok(Some(load(&conn)?))
    }
}

#[async_trait]
impl Settings for SqliteStore {
    async fn load_settings(&self) -> StoreResult<StoredSettings> {
        self.read(load)
    }

    async fn save_settings(
        &self,
        changes: &[SettingChange],
        event: AuditEvent,
        now: Timestamp,
    ) -> StoreResult<()> {
        let changes = changes.to_vec();
        self.write(move |conn| {
            for change in &changes {
                save(conn, change, now)?;
            }
            grow_version(conn)?;
            audit::record(conn, event)
        })
        .await
    }

    async fn shared_version(&self) -> StoreResult<i64> {
        self.read(|conn| number(conn, SHARED_VERSION, []))
    }
}

/// Tells other processes that settings or keys changed.
pub(crate) fn grow_version(conn: &Connection) -> Fallible<()> {
    execute(conn, GROW_VERSION, [])?;
    Ok(())
}

/// One statement, so that the version is that of the values.
fn load(conn: &Connection) -> Fallible<StoredSettings> {
    let mut settings = StoredSettings::default();
    let mut statement = conn.prepare_cached(LIST_SETTINGS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
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

fn save(conn: &Connection, change: &SettingChange, now: Timestamp) -> Fallible<()> {
    match &change.value {
        Some(value) => execute(conn, SAVE_SETTING, params![change.key, value.to_string(), now.as_millis()])?,
        None => execute(conn, DELETE_SETTING, params![change.key])?,
    };
    Ok(())
}
