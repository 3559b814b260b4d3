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

/// Identity providers. Every change grows the shared version.
#[async_trait]
pub trait OAuthProviders {
    /// All of them, by key; at most 1,000.
    async fn list_oauth_providers(&self) -> StoreResult<Vec<StoredProvider>>;

    /// Keeps a new one; `false` where its key is in use.
    async fn create_oauth_provider(&self, provider: StoredProvider, event: AuditEvent) -> StoreResult<bool>;

    /// Replaces one of the same key and kind, all but its `created_at`; `false` where there is none.
    async fn update_oauth_provider(&self, provider: StoredProvider, event: AuditEvent) -> StoreResult<bool>;

    /// Deletes one; identities of it stay. `false` where there is none of this key and kind.
    async fn delete_oauth_provider(
        &self,
        key: &ProviderKey,
        kind: ProviderKind,
        event: AuditEvent,
    ) -> StoreResult<bool>;
}
