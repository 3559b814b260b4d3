//! Operations on identity providers that an admin configures: implementation of [`OAuthProviders`].

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::identity::{ProviderKey, ProviderKind};
use latchkey_domain::time::Timestamp;
use latchkey_store::{FoundProvider, OAuthProviders, StoreResult, StoredProvider};

use super::Engine;
use crate::form::{Decided, Executor, Script, Sql, Value, object_text, values};
use crate::tables::oauth_providers::{CREATE, DELETE, LIST, UPDATE, read_provider};
use crate::tables::{audit_events, settings};

#[crate::measured]
#[async_trait]
impl<E: Executor> OAuthProviders for Engine<E> {
    async fn list_oauth_providers(&self) -> StoreResult<Vec<FoundProvider>> {
        let (script, all) = Script::of_read(&LIST, Vec::new());
        self.read(script, move |results| results.list(all, read_provider)).await
    }

    async fn create_oauth_provider(&self, provider: StoredProvider, event: AuditEvent) -> StoreResult<bool> {
        let StoredProvider { key, kind, config, sealed, created_at, updated_at } = provider;
        let config = object_text(&config)?;
        let values = values![key.as_str(), kind.as_str(), config, sealed, created_at, updated_at];
        change(&self.0, &CREATE, values, event).await
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
        change(&self.0, &UPDATE, values, event).await
    }

    async fn delete_oauth_provider(
        &self,
        key: &ProviderKey,
        kind: ProviderKind,
        event: AuditEvent,
    ) -> StoreResult<bool> {
        change(&self.0, &DELETE, values![key.as_str(), kind.as_str()], event).await
    }
}

/// Executes a change of a provider. If a row changed, also writes the audit event and notifies other instances.
async fn change<E: Executor>(
    engine: &E,
    sql: &'static Sql,
    values: Vec<Value>,
    event: AuditEvent,
) -> StoreResult<bool> {
    let mut script = Script::default();
    settings::lock_version(&mut script); // first, so that concurrent changes run one after another
    let changed = script.change(sql, values);
    engine
        .transact(script, move |results| {
            if results.affected(changed)? == 0 {
                return Ok(Decided::Return(false));
            }
            let mut writes = Script::default();
            settings::grow_version(&mut writes);
            audit_events::record(&mut writes, event.clone())?;
            writes.announce();
            Ok(Decided::done(writes, true))
        })
        .await
}
