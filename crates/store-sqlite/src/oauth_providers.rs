//! Identity providers that an admin configures.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::identity::{ProviderKey, ProviderKind};
use latchkey_store::{OAuthProviders, StoreResult, StoredProvider};

use crate::errors::{EngineFault, unavailable};
use crate::store::SqliteStore;

#[async_trait]
impl OAuthProviders for SqliteStore {
    async fn list_oauth_providers(&self) -> StoreResult<Vec<StoredProvider>> {
        Ok(Vec::new())
    }

    async fn create_oauth_provider(
        &self,
        _provider: StoredProvider,
        _event: AuditEvent,
    ) -> StoreResult<bool> {
        Err(unavailable(EngineFault::Stopped))
    }

    async fn update_oauth_provider(
        &self,
        _provider: StoredProvider,
        _event: AuditEvent,
    ) -> StoreResult<bool> {
        Err(unavailable(EngineFault::Stopped))
    }

    async fn delete_oauth_provider(
        &self,
        _key: &ProviderKey,
        _kind: ProviderKind,
        _event: AuditEvent,
    ) -> StoreResult<bool> {
        Err(unavailable(EngineFault::Stopped))
    }
}
