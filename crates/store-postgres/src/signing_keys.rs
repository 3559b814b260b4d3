//! Signing keys.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::KeyId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{NewSigningKey, SigningKeys, StoreResult, StoredSigningKey};
use tokio_postgres::Row;

use crate::audit;
use crate::errors::Fallible;
use crate::rows::Cells;
use crate::script::Script;
use crate::settings::{grow_version, lock_version};
use crate::store::PostgresStore;
use crate::transact::Step;
use crate::values::values;

const LIST_KEYS: &str = "
    SELECT id, algorithm, sealed, created_at, verify_until FROM signing_keys
    WHERE verify_until IS NULL OR verify_until > $1
    ORDER BY verify_until IS NOT NULL, created_at DESC, id DESC LIMIT 1000";
const FIND_SIGNING: &str = "
    SELECT id, algorithm, sealed, created_at, verify_until FROM signing_keys WHERE verify_until IS NULL";
const CREATE_KEY: &str = "
    INSERT INTO signing_keys (id, algorithm, sealed, created_at, verify_until) VALUES ($1, $2, $3, $4, NULL)";
const RETIRE_KEY: &str = "UPDATE signing_keys SET verify_until = $2 WHERE id = $1 AND verify_until IS NULL";

#[async_trait]
impl SigningKeys for PostgresStore {
    async fn list_signing_keys(&self, now: Timestamp) -> StoreResult<Vec<StoredSigningKey>> {
        Ok(self.ask(LIST_KEYS, values![now]).await?.list(read_key)?)
    }

    async fn ensure_signing_key(&self, key: NewSigningKey) -> StoreResult<StoredSigningKey> {
        let mut reads = Script::default();
        lock_version(&mut reads);
        let signing = reads.add(FIND_SIGNING, Vec::new());
        self.transact(&reads, |answers| {
            if let Some(signing) = answers.find(signing, read_key)? {
                return Ok(Step::Answer(signing));
            }
            let mut writes = Script::default();
            create(&mut writes, &key);
            let NewSigningKey { id, algorithm, sealed, created_at } = key.clone();
            let made = StoredSigningKey { id, algorithm, sealed, created_at, verify_until: None };
            Ok(Step::done(writes, made))
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
        let mut reads = Script::default();
        lock_version(&mut reads);
        let signing = reads.add(FIND_SIGNING, Vec::new());
        self.transact(&reads, |answers| {
            let signing = answers.find(signing, read_key)?;
            if signing.is_none_or(|signing| signing.id != replaces) {
                return Ok(Step::Answer(false));
            }
            let mut writes = Script::default();
            writes.add(RETIRE_KEY, values![replaces, verify_until]);
            create(&mut writes, &key);
            self.announce(&mut writes);
            audit::record(&mut writes, event.clone())?;
            Ok(Step::done(writes, true))
        })
        .await
    }
}

fn create(writes: &mut Script, key: &NewSigningKey) {
    let NewSigningKey { id, algorithm, sealed, created_at } = key;
    writes.add(CREATE_KEY, values![*id, algorithm.as_str(), sealed.as_slice(), *created_at]);
    grow_version(writes);
}

fn read_key(row: &Row) -> Fallible<StoredSigningKey> {
    let mut cells = Cells::new(row, "signing_keys");
    Ok(StoredSigningKey {
        id: cells.id("id")?,
        algorithm: cells.text("algorithm")?.to_owned(),
        sealed: cells.bytes("sealed")?,
        created_at: cells.time("created_at")?,
        verify_until: cells.maybe_time("verify_until")?,
    })
}
