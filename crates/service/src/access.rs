//! Checks of admin keys, and of the anonymous key: a key shared by all clients, which public calls may have
//! to carry.

use std::sync::Arc;

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::limits::Rate;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_settings::settings;

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::refusal::{ADMIN_UNAUTHORIZED, ANON_KEY_REQUIRED, AUTH_UNAUTHORIZED, FORBIDDEN};
use crate::sessions::Sessions;

settings! {
    /// The rate limits of admin keys.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Limits {
        /// The limit on wrong admin keys from one client address.
        "limits.admin_failures_per_address" => admin_address: Rate = "10/15m";
    }
}

/// The hashes of the keys that callers present instead of a user's token.
#[derive(Debug, Clone, Default)]
pub struct AccessKeys {
    /// SHA-256 of each valid admin key; at most two, so that keys can be rotated.
    pub admin: Vec<TokenHash>,
    /// SHA-256 of the anonymous key; `None` if none is configured.
    pub anonymous: Option<TokenHash>,
    /// True if public calls must carry the anonymous key or a token of this service.
    pub require_anonymous: bool,
}

pub struct Access {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) limits: Limits,
    pub(crate) keys: AccessKeys,
}

impl Access {
    /// Returns true if public calls must carry the anonymous key or a token of this service.
    #[must_use]
    pub fn wants_anon_key(&self) -> bool {
        self.keys.require_anonymous
    }

    /// Admits a public call. If the operator requires the anonymous key, the bearer must be that key or an access token
    /// of this service. An expired token suffices: it shows that its bearer once signed in here.
    pub async fn check_anon_key(&self, bearer: Option<&str>) -> Result<()> {
        if !self.keys.require_anonymous {
            return Ok(());
        }
        let bearer = bearer.ok_or(&ANON_KEY_REQUIRED)?;
        if self.is_anon_key(bearer) {
            return Ok(());
        }
        // The token is verified as of 1970, when no token had expired yet, so only signature and claims are checked.
        self.sessions.verify_credential(Some(bearer).into(), Timestamp::default()).await.map(|_| ())
    }

    pub(crate) fn is_anon_key(&self, bearer: &str) -> bool {
        self.keys.anonymous.is_some_and(|key| key == TokenHash::of(bearer.as_bytes()))
    }

    /// Compares `key` with the admin keys, in constant time.
    #[must_use]
    pub fn is_admin_key(&self, key: &str) -> bool {
        let hash = TokenHash::of(key.as_bytes());
        // All keys are compared, so that the response time does not reveal which of them matched.
        self.keys.admin.iter().filter(|admin| **admin == hash).count() > 0
    }

    /// Admits a call with a valid admin key. A wrong key counts against the limit per address and is written to the
    /// audit log.
    pub async fn authorize_admin(&self, key: Option<&str>, client: &Client) -> Result<()> {
        let Some(key) = key else { return Err(Error::Refused(&ADMIN_UNAUTHORIZED)) };
        if self.is_admin_key(key) {
            return Ok(());
        }
        let now = self.kernel.now();
        match self.sessions.verify_credential(Some(key).into(), now).await {
            // A valid access token of a user gets 403. It is not a guessed admin key, so it does not count against the
            // limit.
            Ok(_) => return Err(Error::Refused(&FORBIDDEN)),
            Err(Error::Refused(&AUTH_UNAUTHORIZED)) => {}
            Err(error) => return Err(error),
        }
        let takes =
            self.kernel.limits.by_address("admin key, per address", self.limits.admin_address, client);
        self.kernel.store.take(&takes, now).await??;
        let event = self.kernel.event(AuditKind::AdminRefused, Actor::Admin, Some(client), now);
        self.kernel.store.record_event(event).await?;
        Err(Error::Refused(&ADMIN_UNAUTHORIZED))
    }
}
