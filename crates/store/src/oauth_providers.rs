//! Identity providers that an admin configures while the service runs.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::identity::{ProviderKey, ProviderKind};
use latchkey_domain::time::Timestamp;
use serde_json::{Map, Value};

use crate::error::StoreResult;

/// A provider as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredProvider {
    /// Its key, unique among both kinds.
    pub key: ProviderKey,
    /// Which kind it is.
    pub kind: ProviderKind,
    /// What may be shown to an admin: client id, scopes and the like.
    pub config: Map<String, Value>,
    /// What may not, sealed.
    pub sealed: Vec<u8>,
    /// When it was configured.
    pub created_at: Timestamp,
    /// When that last changed.
    pub updated_at: Timestamp,
}

/// A provider as it is found: a later version may know keys and kinds that this one does not, and one row that cannot be
/// read must not hide the others.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundProvider {
    /// Its key.
    pub key: String,
    /// Its kind ([`ProviderKind::as_str`]).
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
    /// What it is, where key and kind are known.
    #[must_use]
    pub fn read(self) -> Option<StoredProvider> {
        let Self { key, kind, config, sealed, created_at, updated_at } = self;
        let (key, kind) = (ProviderKey::parse(&key).ok()?, ProviderKind::from_stored(&kind)?);
        Some(StoredProvider { key, kind, config, sealed, created_at, updated_at })
    }
}

/// Identity providers. Every change grows the shared version.
#[async_trait]
pub trait OAuthProviders {
    /// All of them, by key; at most 1,000.
    async fn list_oauth_providers(&self) -> StoreResult<Vec<FoundProvider>>;

    /// Keeps a new one; `false` where its key is in use.
    async fn create_oauth_provider(&self, provider: StoredProvider, event: AuditEvent) -> StoreResult<bool>;

    /// Replaces one of the same key and kind, all but its `created_at`, if it last changed when `replaces` says: of two
    /// who change what they read at the same time, one must read again. `false` where there is no such one.
    async fn update_oauth_provider(
        &self,
        provider: StoredProvider,
        replaces: Timestamp,
        event: AuditEvent,
    ) -> StoreResult<bool>;

    /// Deletes one; identities of it stay. `false` where there is none of this key and kind.
    async fn delete_oauth_provider(
        &self,
        key: &ProviderKey,
        kind: ProviderKind,
        event: AuditEvent,
    ) -> StoreResult<bool>;
}
