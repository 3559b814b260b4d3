//! Keys that sign access tokens: shared by all instances, sealed under the server secret.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::KeyId;
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;

/// A signing key about to be stored.
#[derive(Debug, Clone)]
pub struct NewSigningKey {
    /// Key id, the `kid` of tokens.
    pub id: KeyId,
    /// Algorithm: `ES256` or `EdDSA`.
    pub algorithm: String,
    /// Private key in PKCS#8, sealed.
    pub sealed: Vec<u8>,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// A stored signing key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSigningKey {
    /// Key id.
    pub id: KeyId,
    /// Algorithm.
    pub algorithm: String,
    /// Private key in PKCS#8, sealed.
    pub sealed: Vec<u8>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// End of acceptance of its tokens; `None` for the current signing key.
    pub verify_until: Option<Timestamp>,
}

/// Signing keys.
#[async_trait]
pub trait SigningKeys {
    /// Keys that sign or are still accepted at `now`; the current one first.
    async fn list_signing_keys(&self, now: Timestamp) -> StoreResult<Vec<StoredSigningKey>>;

    /// Stores the key if there is no current one; of instances that start concurrently one wins. Returns the
    /// current key.
    async fn ensure_signing_key(&self, key: NewSigningKey) -> StoreResult<StoredSigningKey>;

    /// Makes `key` the current one; its predecessor is accepted until `verify_until`. If the current key is no
    /// longer `replaces` (the one the caller saw), nothing changes and this returns `false`. Increments the
    /// shared version.
    async fn rotate_signing_key(
        &self,
        key: NewSigningKey,
        replaces: KeyId,
        verify_until: Timestamp,
        event: AuditEvent,
    ) -> StoreResult<bool>;
}
