//! Rotation of the key that signs access tokens, and the public keys.

use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::time::Timestamp;
use serde_json::Value;

use super::Sessions;
use crate::error::Result;

/// A token may be used for this long after it expired on another instance's clock.
const CLOCK_SKEW: Duration = Duration::from_mins(1);

impl Sessions {
    /// Replaces the signing key; tokens of the one before are accepted until the last of them has expired. Where
    /// another instance replaced it meanwhile, nothing changes and this answers `false`.
    pub async fn rotate_signing_key(&self, actor: Actor, client: Option<&Client>) -> Result<bool> {
        let now = self.kernel.now();
        self.shared.reload().await?;
        let replaces = self.shared.tokens.keys().signing()?.id();
        let key = self.shared.tokens.new_key(&*self.kernel.entropy, now)?;
        let verify_until = now.plus(self.lifetimes.access_token + CLOCK_SKEW);
        let mut event = self.kernel.event(AuditKind::KeyRotated, actor, client, now);
        event.details.insert("kid".to_owned(), Value::from(key.id.to_string()));
        let is_rotated = self.kernel.store.rotate_signing_key(key, replaces, verify_until, event).await?;
        self.shared.reload().await?;
        Ok(is_rotated)
    }

    /// Time at which the signing key is due for rotation; `None`: rotated by command alone.
    pub(crate) fn rotation_due_at(&self) -> Result<Option<Timestamp>> {
        let made = self.shared.tokens.keys().signing()?.created_at();
        Ok(self.lifetimes.signing_key.map(|lifetime| made.plus(lifetime)))
    }

    /// The public keys, as a JWK set (RFC 7517).
    #[must_use]
    pub fn jwks(&self) -> Value {
        self.shared.tokens.keys().jwks(self.kernel.now())
    }
}
