//! Identity providers that an admin configures.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::identity::{ProviderKey, ProviderKind};
use latchkey_domain::time::Timestamp;
use latchkey_store::{FoundProvider, OAuthProviders, StoreResult, StoredProvider};
use rusqlite::{Connection, Row, params};

use crate::audit;
use crate::errors::Fallible;
use crate::rows::{Cells, object_text};
use crate::settings::grow_version;
use crate::statements::{execute, list};
use crate::store::SqliteStore;

const LIST: &str = "
    SELECT key, kind, config, sealed, created_at, updated_at FROM oauth_providers ORDER BY key LIMIT 1000";
const CREATE: &str = "
    INSERT INTO oauth_providers (key, kind, config, sealed, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (key) DO NOTHING";
const UPDATE: &str = "
    UPDATE oauth_providers SET config = ?3, sealed = ?4, updated_at = ?5
    WHERE key = ?1 AND kind = ?2 AND updated_at = ?6";
const DELETE: &str = "DELETE FROM oauth_providers WHERE key = ?1 AND kind = ?2";

#[async_trait]
impl OAuthProviders for SqliteStore {
    async fn list_oauth_providers(&self) -> StoreResult<Vec<FoundProvider>> {
        self.read(|conn| list(conn, LIST, [], read_provider))
    }

    async fn create_oauth_provider(&self, provider: StoredProvider, event: AuditEvent) -> StoreResult<bool> {
        self.write(move |conn| {
            let StoredProvider { key, kind, config, sealed, created_at, updated_at } = provider;
            let (config, created_at) = (object_text(&config)?, created_at.as_millis());
            let params =
                params![key.as_str(), kind.as_str(), config, sealed, created_at, updated_at.as_millis()];
            let is_created = execute(conn, CREATE, params)? > 0;
            note(conn, is_created, event)
        })
        .await
    }

    async fn update_oauth_provider(
        &self,
        provider: StoredProvider,
        replaces: Timestamp,
        event: AuditEvent,
    ) -> StoreResult<bool> {
        self.write(move |conn| {
            let StoredProvider { key, kind, config, sealed, updated_at, .. } = provider;
            let config = object_text(&config)?;
            let (updated_at, replaces) = (updated_at.as_millis(), replaces.as_millis());
            let params = params![key.as_str(), kind.as_str(), config, sealed, updated_at, replaces];
            let is_updated = execute(conn, UPDATE, params)? > 0;
            note(conn, is_updated, event)
        })
        .await
    }

    async fn delete_oauth_provider(
        &self,
        key: &ProviderKey,
        kind: ProviderKind,
        event: AuditEvent,
    ) -> StoreResult<bool> {
        let key = key.clone();
        self.write(move |conn| {
            let is_deleted = execute(conn, DELETE, params![key.as_str(), kind.as_str()])? > 0;
            note(conn, is_deleted, event)
        })
        .await
    }
}

/// Tells of a change, if there was one.
fn note(conn: &Connection, is_changed: bool, event: AuditEvent) -> Fallible<bool> {
    if is_changed {
        grow_version(conn)?;
        audit::record(conn, event)?;
    }
    Ok(is_changed)
}

fn read_provider(row: &Row<'_>) -> Fallible<FoundProvider> {
    let mut cells = Cells::new(row, "oauth_providers");
    Ok(FoundProvider {
        key: cells.text("key")?.to_owned(),
        kind: cells.text("kind")?.to_owned(),
        config: cells.object("config")?,
        sealed: cells.bytes("sealed")?,
        created_at: cells.time("created_at")?,
        updated_at: cells.time("updated_at")?,
    })
}
