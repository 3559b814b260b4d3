//! Identity providers configured by an admin.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::identity::{ProviderKey, ProviderKind};
use latchkey_domain::time::Timestamp;
use latchkey_store::{FoundProvider, OAuthProviders, StoreResult, StoredProvider};

use super::Engine;
use crate::form::Executor;
use crate::operations::oauth_providers;

#[async_trait]
impl<E: Executor> OAuthProviders for Engine<E> {
    async fn list_oauth_providers(&self) -> StoreResult<Vec<FoundProvider>> {
        oauth_providers::list(&self.0).await
    }

    async fn create_oauth_provider(&self, provider: StoredProvider, event: AuditEvent) -> StoreResult<bool> {
        oauth_providers::create(&self.0, provider, event).await
    }

    async fn update_oauth_provider(
        &self,
        provider: StoredProvider,
        replaces: Timestamp,
        event: AuditEvent,
    ) -> StoreResult<bool> {
        oauth_providers::update(&self.0, provider, replaces, event).await
    }

    async fn delete_oauth_provider(
        &self,
        key: &ProviderKey,
        kind: ProviderKind,
        event: AuditEvent,
    ) -> StoreResult<bool> {
        oauth_providers::delete(&self.0, key, kind, event).await
    }
}
