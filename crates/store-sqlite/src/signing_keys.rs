//! Signing keys.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::KeyId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{NewSigningKey, SigningKeys, StoreResult, StoredSigningKey};
use rusqlite::{Connection, Row, params};

use crate::audit;
use crate::errors::Fallible;
use crate::rows::{Cells, Id};
use crate::settings::grow_version;
use crate::statements::{execute, find, list};
use crate::store::SqliteStore;

const LIST_KEYS: &str = "
    SELECT id, algorithm, sealed, created_at, verify_until FROM signing_keys
    WHERE verify_until IS NULL OR verify_until > ?1
    ORDER BY verify_until IS NOT NULL, created_at DESC, id DESC LIMIT 1000";
const FIND_SIGNING: &str = "
    SELECT id, algorithm, sealed, created_at, verify_until FROM signing_keys WHERE verify_until IS NULL";
const CREATE_KEY: &str = "
    INSERT INTO signing_keys (id, algorithm, sealed, created_at, verify_until) VALUES (?1, ?2, ?3, ?4, NULL)";
const RETIRE_KEY: &str = "UPDATE signing_keys SET verify_until = ?2 WHERE id = ?1 AND verify_until IS NULL";

#[async_trait]
impl SigningKeys for SqliteStore {
    async fn list_signing_keys(&self, now: Timestamp) -> StoreResult<Vec<StoredSigningKey>> {
        self.read(|conn| list_keys(conn, now))
    }

    async fn ensure_signing_key(&self, key: NewSigningKey) -> StoreResult<StoredSigningKey> {
        self.write(move |conn| match find(conn, FIND_SIGNING, [], read_key)? {
            Some(signing) => Ok(signing),
            None => create(conn, key),
        })
        .await
    }

    async fn rotate_signing_key(
        &self,
        key: NewSigningKey,
        replaces: KeyId,
        verify_until: Timestamp,
        event: AuditEvent,
    ) -> StoreResult<bool> {
        self.write(move |conn| {
            if execute(conn, RETIRE_KEY, params![replaces.blob(), verify_until.as_millis()])? == 0 {
                return Ok(false);
            }
            create(conn, key)?;
            audit::record(conn, event)?;
            Ok(true)
        })
        .await
    }
}

/// The keys in use, the signing one first.
pub(crate) fn list_keys(conn: &Connection, now: Timestamp) -> Fallible<Vec<StoredSigningKey>> {
    list(conn, LIST_KEYS, params![now.as_millis()], read_key)
}

fn create(conn: &Connection, key: NewSigningKey) -> Fallible<StoredSigningKey> {
    let NewSigningKey { id, algorithm, sealed, created_at } = key;
    execute(conn, CREATE_KEY, params![id.blob(), algorithm, sealed, created_at.as_millis()])?;
    grow_version(conn)?;
    Ok(StoredSigningKey { id, algorithm, sealed, created_at, verify_until: None })
}

fn read_key(row: &Row<'_>) -> Fallible<StoredSigningKey> {
    let mut cells = Cells::new(row, "signing_keys");
    Ok(StoredSigningKey {
        id: cells.id("id")?,
        algorithm: cells.text("algorithm")?.to_owned(),
        sealed: cells.bytes("sealed")?,
        created_at: cells.time("created_at")?,
        verify_until: cells.maybe_time("verify_until")?,
    })
}
