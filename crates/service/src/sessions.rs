//! Sessions: opening, authenticating a bearer, refreshing, listing and ending, and the keys that sign access tokens.

use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::limits::Rate;
use latchkey_settings::{Kind, settings};

use crate::kernel::Kernel;
use crate::secrets::{CannotDerive, ServerSecret};
use crate::shared::Shared;

pub mod authenticate;
mod keys;
mod opening;
mod own_sessions;
pub mod refresh;
mod rotation;

use keys::SessionKeys;
pub use opening::SignedIn;
pub use own_sessions::SignOut;

settings! {
    /// The rate limits of sessions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Limits {
        /// The time for which an address counts as known to an account after a sign-in from it.
        "limits.sign_in_known_address_age" => known_client: Duration = "30d";
        /// Refreshes from one address.
        "limits.refresh_per_address" => refresh_address: Rate = "300/5m";
        /// CSRF tokens of the refresh cookie (GET /api/auth/csrf) for one address.
        "limits.csrf_per_address" => csrf_address: Rate = "600/1m";
    }
}

settings! {
    /// The lifetimes of sessions, their tokens, and the keys that sign them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Lifetimes {
        /// The life of an access token (JWT). Sign-out and bans act at once at this service; another service
        /// that only checks signatures trusts a token until it ends.
        "auth.access_token_ttl" => access_token: Duration = "15m";
        /// A session ends when its refresh token was not used for so long (sliding), and at the latest so
        /// long after sign-in (absolute).
        "auth.refresh_idle_ttl" => refresh_idle: Duration = "30d";
        "auth.refresh_absolute_ttl" => refresh_absolute: Duration = "90d";
        /// For so long the refresh token that was just replaced still gives the same successor: two tabs, a
        /// lost response. Later it gives a new one, if the first was never used; the first is dead then. Once
        /// the successor was used, the token is refused, and after the grace it ends the whole session. "0s"
        /// switches the grace off.
        "auth.refresh_grace" => refresh_grace: Duration [Kind::DurationOrZero] = "30s";
        /// The time after which a new signing key takes over. The one before stays in the key set until its last
        /// token has expired. "0s" leaves rotation to `latchkey keys rotate`.
        "auth.key_rotation_interval" => signing_key: Option<Duration> = "90d";
    }
}

/// The use cases of sessions.
pub struct Sessions {
    kernel: Arc<Kernel>,
    shared: Arc<Shared>,
    keys: SessionKeys,
    limits: Limits,
    lifetimes: Lifetimes,
}

impl Sessions {
    pub(crate) fn new(
        kernel: Arc<Kernel>,
        shared: Arc<Shared>,
        secret: &ServerSecret,
        limits: Limits,
        lifetimes: Lifetimes,
    ) -> Result<Self, CannotDerive> {
        Ok(Self { kernel, shared, keys: SessionKeys::derive(secret)?, limits, lifetimes })
    }
}
