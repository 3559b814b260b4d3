//! Contract for the keys that sign access tokens, shared by all instances and sealed under the server secret.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::KeyId;
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;

/// A signing key to be stored.
#[derive(Debug, Clone)]
pub struct NewSigningKey {
    /// Key id, the `kid` in the header of access tokens.
    pub id: KeyId,
    /// JWS algorithm: `ES256` or `EdDSA`.
    pub algorithm: String,
    /// Private key in PKCS#8, sealed under the server secret.
    pub sealed: Vec<u8>,
    /// Time at which the key was generated.
    pub created_at: Timestamp,
}

/// A stored signing key: the current one, or a previous one whose tokens are still accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSigningKey {
    /// Key id, the `kid` in the header of access tokens.
    pub id: KeyId,
    /// JWS algorithm: `ES256` or `EdDSA`.
    pub algorithm: String,
    /// Private key in PKCS#8, sealed under the server secret.
    pub sealed: Vec<u8>,
    /// Time at which the key was generated.
    pub created_at: Timestamp,
    /// Time until which tokens signed by the key are accepted; `None` for the current key.
    pub verify_until: Option<Timestamp>,
}

/// Keys that sign access tokens, one of which is current.
#[async_trait]
pub trait SigningKeys {
    /// Lists the current key, then previous keys whose tokens are still accepted at `now`.
    async fn list_signing_keys(&self, now: Timestamp) -> StoreResult<Vec<StoredSigningKey>>;

    /// Stores `key` unless a current key exists. Returns the current key, the same for concurrent callers.
    async fn ensure_signing_key(&self, key: NewSigningKey) -> StoreResult<StoredSigningKey>;

    /// Makes `key` the current key; tokens of its predecessor are accepted until `verify_until`. Returns `false` and
    /// changes nothing unless `replaces` is the current key. Increments [`crate::StoredSettings::version`].
    async fn rotate_signing_key(
        &self,
        key: NewSigningKey,
        replaces: KeyId,
        verify_until: Timestamp,
        event: AuditEvent,
    ) -> StoreResult<bool>;
}
