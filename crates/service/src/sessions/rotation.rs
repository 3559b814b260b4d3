//! Rotation of the key that signs access tokens, and the set of public keys.

use std::time::Duration;

use latchkey_domain::audit::AuditKind;
use latchkey_domain::client::Client;
use latchkey_domain::operator::Party;
use latchkey_domain::time::Timestamp;
use latchkey_store::StoredSigningKey;
use serde_json::Value;

use super::Sessions;
use crate::error::Result;

/// Additional time for which a replaced key verifies tokens, for instances with differing clocks.
const CLOCK_SKEW: Duration = Duration::from_mins(1);

impl Sessions {
    /// Replaces the signing key. The previous key verifies its tokens until the last one has expired. Returns `false`
    /// without a change if another instance rotated at the same time.
    pub async fn rotate_signing_key(&self, party: Party, client: Option<&Client>) -> Result<bool> {
        let now = self.kernel.now();
        self.shared.reload().await?;
        let replaces = self.shared.tokens.keys().signing()?.id();
        let key = self.shared.tokens.new_key(&*self.kernel.entropy, now)?;
        let verify_until = now.plus(self.lifetimes.access_token + CLOCK_SKEW);
        let mut event = self.kernel.event(AuditKind::KeyRotated, party, client, now);
        event.details.insert("kid".to_owned(), Value::from(key.id.to_string()));
        let is_rotated = self.kernel.store.rotate_signing_key(key, replaces, verify_until, event).await?;
        self.shared.reload().await?;
        Ok(is_rotated)
    }

    /// Lists the current signing key, then the replaced ones whose tokens are still accepted.
    pub async fn list_signing_keys(&self) -> Result<Vec<StoredSigningKey>> {
        Ok(self.kernel.store.list_signing_keys(self.kernel.now()).await?)
    }

    /// Returns the time at which the signing key is due for rotation; `None` if only the operator rotates it.
    pub(crate) fn rotation_due_at(&self) -> Result<Option<Timestamp>> {
        let made = self.shared.tokens.keys().signing()?.created_at();
        Ok(self.lifetimes.signing_key.map(|lifetime| made.plus(lifetime)))
    }

    /// Returns the public keys, as a JWK set (RFC 7517).
    #[must_use]
    pub fn jwks(&self) -> Value {
        self.shared.tokens.keys().jwks(self.kernel.now())
    }
}
