//! Contract for the configuration of identity providers, which admins change at run time.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::identity::{ProviderKey, ProviderKind};
use latchkey_domain::time::Timestamp;
use serde_json::{Map, Value};

use crate::error::StoreResult;

/// Configuration of an identity provider, parsed from its row.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredProvider {
    /// Key of the provider, unique over built-in and custom providers.
    pub key: ProviderKey,
    /// Kind of the provider: a built-in or a custom one.
    pub kind: ProviderKind,
    /// Public part of the configuration, for example client id and scopes.
    pub config: Map<String, Value>,
    /// Secret part of the configuration, sealed under the server secret.
    pub sealed: Vec<u8>,
    /// Time at which the provider was configured.
    pub created_at: Timestamp,
    /// Time of the last change of the configuration, also its version for optimistic locking.
    pub updated_at: Timestamp,
}

/// Row of a provider before key and kind are parsed. A newer version may have written values unknown to this one, and
/// one such row must not make the whole list fail.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundProvider {
    /// Provider key as stored, possibly invalid in this version.
    pub key: String,
    /// Kind as stored ([`ProviderKind::as_str`]), possibly unknown to this version.
    pub kind: String,
    /// Public part of the configuration, see [`StoredProvider::config`].
    pub config: Map<String, Value>,
    /// Secret part of the configuration, see [`StoredProvider::sealed`].
    pub sealed: Vec<u8>,
    /// Time at which the provider was configured.
    pub created_at: Timestamp,
    /// Time of the last change, see [`StoredProvider::updated_at`].
    pub updated_at: Timestamp,
}

impl FoundProvider {
    /// Parses key and kind. Returns `None` if one of them is invalid in this version.
    #[must_use]
    pub fn read(self) -> Option<StoredProvider> {
        let Self { key, kind, config, sealed, created_at, updated_at } = self;
        let (key, kind) = (ProviderKey::parse(&key).ok()?, ProviderKind::parse(&kind)?);
        Some(StoredProvider { key, kind, config, sealed, created_at, updated_at })
    }
}

/// Configuration of identity providers. Every change increments [`crate::StoredSettings::version`].
#[async_trait]
pub trait OAuthProviders {
    /// Lists all providers by key, at most 1,000.
    async fn list_oauth_providers(&self) -> StoreResult<Vec<FoundProvider>>;

    /// Creates a provider. Returns `false` if another one has the key.
    async fn create_oauth_provider(&self, provider: StoredProvider, event: AuditEvent) -> StoreResult<bool>;

    /// Replaces the provider of the same key and kind, except its `created_at`. Optimistic locking: nothing changes
    /// and the result is `false` unless the stored `updated_at` equals `replaces`.
    async fn update_oauth_provider(
        &self,
        provider: StoredProvider,
        replaces: Timestamp,
        event: AuditEvent,
    ) -> StoreResult<bool>;

    /// Deletes a provider but not the identities linked through it. Returns `false` if key and kind match none.
    async fn delete_oauth_provider(
        &self,
        key: &ProviderKey,
        kind: ProviderKind,
        event: AuditEvent,
    ) -> StoreResult<bool>;
}
