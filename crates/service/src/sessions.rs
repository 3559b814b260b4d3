//! Sessions: opening, authenticating a bearer, refreshing, listing and ending, and the keys that sign access tokens.

use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::limits::Rate;

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

/// The rate limits of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time that a client stays known to an account that it signed in to.
    pub known_client: Duration,
    /// Refreshes of one client.
    pub refresh_address: Rate,
    /// CSRF tokens of the cookie for one client.
    pub csrf_address: Rate,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            known_client: Duration::from_hours(720),
            refresh_address: Rate::per(300, 300),
            csrf_address: Rate::per(600, 60),
        }
    }
}

/// The lifetimes of sessions, their tokens, and the keys that sign them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// An access token.
    pub access_token: Duration,
    /// A session without a refresh.
    pub refresh_idle: Duration,
    /// A session in any case.
    pub refresh_absolute: Duration,
    /// A replaced refresh token still yields its successor.
    pub refresh_grace: Duration,
    /// A signing key signs; `None`: until it is rotated by command.
    pub signing_key: Option<Duration>,
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self {
            access_token: Duration::from_mins(15),
            refresh_idle: Duration::from_hours(30 * 24),
            refresh_absolute: Duration::from_hours(90 * 24),
            refresh_grace: Duration::from_secs(30),
            signing_key: Some(Duration::from_hours(90 * 24)),
        }
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
