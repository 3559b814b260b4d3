//! Signing keys.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::KeyId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{NewSigningKey, SigningKeys, StoreResult, StoredSigningKey};

use super::Engine;
use crate::form::Executor;
use crate::operations::signing_keys;

#[async_trait]
impl<E: Executor> SigningKeys for Engine<E> {
    async fn list_signing_keys(&self, now: Timestamp) -> StoreResult<Vec<StoredSigningKey>> {
        signing_keys::list(&self.0, now).await
    }

    async fn ensure_signing_key(&self, key: NewSigningKey) -> StoreResult<StoredSigningKey> {
        signing_keys::ensure(&self.0, key).await
    }

    async fn rotate_signing_key(
        &self,
        key: NewSigningKey,
        replaces: KeyId,
        verify_until: Timestamp,
        event: AuditEvent,
    ) -> StoreResult<bool> {
        signing_keys::rotate(&self.0, key, replaces, verify_until, event).await
    }
}
