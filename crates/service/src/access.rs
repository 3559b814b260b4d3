//! The anonymous key of public calls, and admin keys.

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
    /// The rate limits of keys.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Limits {
        /// Wrong admin keys from one address.
        "limits.admin_failures_per_address" => admin_address: Rate = "10/15m";
    }
}

/// The keys that callers present besides the tokens of users.
#[derive(Debug, Clone, Default)]
pub struct AccessKeys {
    /// SHA-256 of the admin keys in force, two at most.
    pub admin: Vec<TokenHash>,
    /// SHA-256 of the anonymous key; `None` if none is set.
    pub anonymous: Option<TokenHash>,
    /// Public calls must carry the anonymous key.
    pub require_anonymous: bool,
}

/// The use cases of the anonymous key and the admin keys.
pub struct Access {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) limits: Limits,
    pub(crate) keys: AccessKeys,
}

impl Access {
    /// Public calls must carry the anonymous key.
    #[must_use]
    pub fn wants_anon_key(&self) -> bool {
        self.keys.require_anonymous
    }

    /// Admits a public call: always, unless the operator requires the anonymous key. A token of this
    /// service, stale or not, shows as much: its bearer once signed in here.
    pub async fn check_anon_key(&self, bearer: Option<&str>) -> Result<()> {
        if !self.keys.require_anonymous {
            return Ok(());
        }
        let bearer = bearer.ok_or(&ANON_KEY_REQUIRED)?;
        if self.is_anon_key(bearer) {
            return Ok(());
        }
        // A time before all others: no token has ended then.
        self.sessions.good_token(Some(bearer), Timestamp::default()).await.map(|_| ())
    }

    /// Compares with the anonymous key.
    pub(crate) fn is_anon_key(&self, bearer: &str) -> bool {
        self.keys.anonymous.is_some_and(|key| key == TokenHash::of(bearer.as_bytes()))
    }

    /// Compares with the admin keys, in constant time.
    #[must_use]
    pub fn is_admin_key(&self, key: &str) -> bool {
        let hash = TokenHash::of(key.as_bytes());
        // Every key is compared, so that time does not tell which of them it was.
        self.keys.admin.iter().filter(|admin| **admin == hash).count() > 0
    }

    /// Lets a good admin key pass. A refusal is counted by address and written to the audit.
    pub async fn authorize_admin(&self, key: Option<&str>, client: &Client) -> Result<()> {
        let Some(key) = key else { return Err(Error::Refused(&ADMIN_UNAUTHORIZED)) };
        if self.is_admin_key(key) {
            return Ok(());
        }
        let now = self.kernel.now();
        match self.sessions.good_token(Some(key), now).await {
            // A user's token is known, and does not open this.
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
