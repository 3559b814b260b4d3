//! What instances share and may change at any time: settings, identity providers and signing keys. Other instances, and the command line
//! beside a running service, change them through the database; a version tells.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

use crate::error::Result;
use crate::oauth::providers::Providers;
use crate::service::Service;
use crate::signing_keys::{KeySet, new_signing_key};

/// A token may be used for this long after it expired on another instance's clock.
const CLOCK_SKEW: Duration = Duration::from_mins(1);

impl Service {
    /// Looks whether settings, providers or keys changed elsewhere, and takes them over; `true` if they had.
    pub async fn sync_shared(&self) -> Result<bool> {
        if self.store.shared_version().await? == self.settings.load().version {
            return Ok(false);
        }
        self.reload_shared().await?;
        Ok(true)
    }

    /// Loads settings, providers and keys. One task at a time: what was read later must not be overwritten with what
    /// was read before it, or the version would be that of other keys.
    pub(crate) async fn reload_shared(&self) -> Result<()> {
        let _turn = self.reloading.lock().await;
        let stored = self.store.load_settings().await?;
        let keys = KeySet::open(&self.store.list_signing_keys(self.clock.now()).await?, &self.keys)?;
        let rows = self.store.list_oauth_providers().await?;
        let providers = Providers::open(&self.oauth_parts, rows, &self.keys)?;
        let settings = self.base_settings.in_force(&stored)?;
        let before = self.providers.swap(Arc::new(providers));
        before.changed_until(&self.providers.load()).for_each(|one| self.provider_client.evict(&one.client));
        self.signing.store(Arc::new(keys));
        self.settings.store(Arc::new(settings));
        Ok(())
    }

    /// Replaces the signing key; tokens of the one before are accepted until the last of them has expired. Where
    /// another instance replaced it meanwhile, nothing changes and this answers `false`.
    pub async fn rotate_signing_key(&self, actor: Actor, client: Option<&Client>) -> Result<bool> {
        let now = self.clock.now();
        self.reload_shared().await?;
        let replaces = self.signing.load().signing()?.id();
        let key = new_signing_key(self.config.algorithm, &self.keys, &*self.entropy, now)?;
        let verify_until = now.plus(self.config.lifetimes.access_token + CLOCK_SKEW);
        let mut event = self.event(AuditKind::KeyRotated, actor, client, now);
        event.details.insert("kid".to_owned(), Value::from(key.id.to_string()));
        let is_rotated = self.store.rotate_signing_key(key, replaces, verify_until, event).await?;
        self.reload_shared().await?;
        Ok(is_rotated)
    }

    /// Rotates the signing key where it has signed for longer than the configuration says, and the clock is trusted.
    pub async fn rotate_signing_key_if_due(&self) -> Result<bool> {
        let Some(lifetime) = self.config.lifetimes.signing_key else { return Ok(false) };
        let made = self.signing.load().signing()?.created_at();
        let Some(now) = self.trusted_now() else { return Ok(false) };
        if now.since(made) < lifetime {
            return Ok(false);
        }
        self.rotate_signing_key(Actor::System, None).await
    }

    /// The public keys, as a JWK set.
    #[must_use]
    pub fn jwks(&self) -> Value {
        self.signing.load().jwks(self.clock.now())
    }
}
