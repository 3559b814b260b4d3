//! Identity providers configured by an admin at run time.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::identity::{ProviderKey, ProviderKind};
use latchkey_domain::time::Timestamp;
use serde_json::{Map, Value};

use crate::error::StoreResult;

/// A configured provider.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredProvider {
    /// Key, unique among both kinds.
    pub key: ProviderKey,
    /// Kind of provider.
    pub kind: ProviderKind,
    /// Public part of the configuration: client id, scopes and so on.
    pub config: Map<String, Value>,
    /// Secret part of the configuration, sealed.
    pub sealed: Vec<u8>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// A provider row before its key and kind are parsed: a later version may write values unknown to this one, and
/// one unreadable row must not hide the others.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundProvider {
    /// Key.
    pub key: String,
    /// Kind ([`ProviderKind::as_str`]).
    pub kind: String,
    /// See [`StoredProvider`].
    pub config: Map<String, Value>,
    /// See [`StoredProvider`].
    pub sealed: Vec<u8>,
    /// See [`StoredProvider`].
    pub created_at: Timestamp,
    /// See [`StoredProvider`].
    pub updated_at: Timestamp,
}

impl FoundProvider {
    /// Parses key and kind; `None` if one is unknown.
    #[must_use]
    pub fn read(self) -> Option<StoredProvider> {
        let Self { key, kind, config, sealed, created_at, updated_at } = self;
        let (key, kind) = (ProviderKey::parse(&key).ok()?, ProviderKind::from_stored(&kind)?);
        Some(StoredProvider { key, kind, config, sealed, created_at, updated_at })
    }
}

/// Identity providers. Every change increments the shared version.
#[async_trait]
pub trait OAuthProviders {
    /// All providers by key, at most 1,000.
    async fn list_oauth_providers(&self) -> StoreResult<Vec<FoundProvider>>;

    /// Creates a provider; `false` if its key is in use.
    async fn create_oauth_provider(&self, provider: StoredProvider, event: AuditEvent) -> StoreResult<bool>;

    /// Replaces a provider of the same key and kind, all but its `created_at`, if its last change was at
    /// `replaces` (optimistic locking): of two concurrent changes one fails. `false` if no row matches.
    async fn update_oauth_provider(
        &self,
        provider: StoredProvider,
        replaces: Timestamp,
        event: AuditEvent,
    ) -> StoreResult<bool>;

    /// Deletes a provider; its identities stay. `false` if there is none of this key and kind.
    async fn delete_oauth_provider(
        &self,
        key: &ProviderKey,
        kind: ProviderKind,
        event: AuditEvent,
    ) -> StoreResult<bool>;
}
