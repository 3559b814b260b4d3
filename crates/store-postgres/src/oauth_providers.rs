//! Identity providers that an admin configures.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::identity::{ProviderKey, ProviderKind};
use latchkey_domain::time::Timestamp;
use latchkey_store::{FoundProvider, OAuthProviders, StoreResult, StoredProvider};
use tokio_postgres::Row;

use crate::audit;
use crate::errors::Fallible;
use crate::rows::{Cells, object_text};
use crate::script::Script;
use crate::settings::{grow_version, lock_version};
use crate::store::PostgresStore;
use crate::transact::Step;
use crate::values::{Value, values};

const LIST: &str = "
    SELECT key, kind, config, sealed, created_at, updated_at FROM oauth_providers ORDER BY key LIMIT 1000";
const CREATE: &str = "
    INSERT INTO oauth_providers (key, kind, config, sealed, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (key) DO NOTHING";
const UPDATE: &str = "
    UPDATE oauth_providers SET config = $3, sealed = $4, updated_at = $5
    WHERE key = $1 AND kind = $2 AND updated_at = $6";
const DELETE: &str = "DELETE FROM oauth_providers WHERE key = $1 AND kind = $2";

#[async_trait]
impl OAuthProviders for PostgresStore {
    async fn list_oauth_providers(&self) -> StoreResult<Vec<FoundProvider>> {
        Ok(self.ask(LIST, Vec::new()).await?.list(read_provider)?)
    }

    async fn create_oauth_provider(&self, provider: StoredProvider, event: AuditEvent) -> StoreResult<bool> {
        let StoredProvider { key, kind, config, sealed, created_at, updated_at } = provider;
        let config = object_text(&config)?;
        let values = values![key.as_str(), kind.as_str(), config, sealed, created_at, updated_at];
        change(self, CREATE, values, event).await
    }

    async fn update_oauth_provider(
        &self,
        provider: StoredProvider,
        replaces: Timestamp,
        event: AuditEvent,
    ) -> StoreResult<bool> {
        let StoredProvider { key, kind, config, sealed, updated_at, .. } = provider;
        let config = object_text(&config)?;
        let values = values![key.as_str(), kind.as_str(), config, sealed, updated_at, replaces];
        change(self, UPDATE, values, event).await
    }

    async fn delete_oauth_provider(
        &self,
        key: &ProviderKey,
        kind: ProviderKind,
        event: AuditEvent,
    ) -> StoreResult<bool> {
        change(self, DELETE, values![key.as_str(), kind.as_str()], event).await
    }
}

/// Makes a change and tells of it, if it was one.
async fn change(
    store: &PostgresStore,
    sql: &'static str,
    values: Vec<Value>,
    event: AuditEvent,
) -> StoreResult<bool> {
    let mut reads = Script::default();
    lock_version(&mut reads); // first: it makes changes take turns
    let changed = reads.add(sql, values);
    store
        .transact(&reads, |answers| {
            if answers.affected(changed) == 0 {
                return Ok(Step::Answer(false));
            }
            let mut writes = Script::default();
            grow_version(&mut writes);
            audit::record(&mut writes, event.clone())?;
            store.announce(&mut writes);
            Ok(Step::done(writes, true))
        })
        .await
}

fn read_provider(row: &Row) -> Fallible<FoundProvider> {
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
