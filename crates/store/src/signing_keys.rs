//! Keys that sign access tokens, shared by all instances, sealed under the server secret.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::KeyId;
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;

/// A key that is about to be kept.
#[derive(Debug, Clone)]
pub struct NewSigningKey {
    /// Its id, `kid` of tokens.
    pub id: KeyId,
    /// Its algorithm: `ES256` or `EdDSA`.
    pub algorithm: String,
    /// The private key in PKCS#8, sealed.
    pub sealed: Vec<u8>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A key that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSigningKey {
    /// Its id.
    pub id: KeyId,
    /// Its algorithm.
    pub algorithm: String,
    /// The private key in PKCS#8, sealed.
    pub sealed: Vec<u8>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Until when its tokens are accepted; `None` for the one that signs.
    pub verify_until: Option<Timestamp>,
}

/// Signing keys.
#[async_trait]
pub trait SigningKeys {
    /// Keys that sign or are still accepted at `now`; the one that signs first.
    async fn list_signing_keys(&self, now: Timestamp) -> StoreResult<Vec<StoredSigningKey>>;

    /// Keeps the key if there is none that signs; of many instances that start together, one wins. Answers the one
    /// that signs.
    async fn ensure_signing_key(&self, key: NewSigningKey) -> StoreResult<StoredSigningKey>;

    /// Makes `key` the one that signs; the one before is accepted until `verify_until`. `replaces` names the key that
    /// the caller saw signing: where another one signs by now, nothing changes and this answers `false`. Grows the
    /// shared version.
    async fn rotate_signing_key(
        &self,
        key: NewSigningKey,
        replaces: KeyId,
        verify_until: Timestamp,
        event: AuditEvent,
    ) -> StoreResult<bool>;
}
