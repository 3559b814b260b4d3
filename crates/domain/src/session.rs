//! Sessions. Rotation of their refresh tokens is in [`crate::refresh`].

use std::time::Duration;

use crate::client::Client;
use crate::identity::IdentityId;
use crate::ids::{SessionId, UserId};
use crate::time::Timestamp;
use crate::tokens::TokenHash;

/// Most concurrent sessions of an account. One more ends the least recently refreshed one.
pub const MAX_LIVE_SESSIONS: u32 = 100;

/// Authentication method: value of the `amr` claim (RFC 8176 where registered).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthMethod {
    /// A password.
    Password,
    /// An email code or link token.
    Email,
    /// An external identity provider.
    Federated,
}

impl AuthMethod {
    /// Value of the claim and name in stores.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Password => "pwd",
            Self::Email => "otp",
            Self::Federated => "fed",
        }
    }

    /// Parses [`Self::as_str`].
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        [Self::Password, Self::Email, Self::Federated].into_iter().find(|method| method.as_str() == text)
    }
}

/// A session to be opened, prepared before the store determines its user.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Session id, `sid` of access tokens.
    pub id: SessionId,
    /// Hash of the family half of its refresh tokens.
    pub family: TokenHash,
    /// Hash of its first refresh token.
    pub refresh: TokenHash,
    /// Time of authentication, `auth_time`.
    pub created_at: Timestamp,
    /// End of the session unless refreshed.
    pub idle_expires_at: Timestamp,
    /// Latest end of the session.
    pub absolute_expires_at: Timestamp,
    /// Authentication method.
    pub method: AuthMethod,
    /// Identity used to sign in: the session ends when it is unlinked.
    pub identity: Option<IdentityId>,
    /// Client that opens it.
    pub client: Client,
    /// Duration for which the account remembers the client as known; `None` if clients are not remembered.
    pub known_for: Option<Duration>,
}

/// A stored session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Session id, `sid` of access tokens.
    pub id: SessionId,
    /// Owner.
    pub user_id: UserId,
    /// Time of authentication, `auth_time`.
    pub created_at: Timestamp,
    /// Time of the last refresh, or of opening.
    pub last_seen_at: Timestamp,
    /// End of the session unless refreshed.
    pub idle_expires_at: Timestamp,
    /// Latest end of the session.
    pub absolute_expires_at: Timestamp,
    /// Authentication method.
    pub method: AuthMethod,
    /// Client that opened or last refreshed it.
    pub client: Client,
}

impl Session {
    /// End of the session unless refreshed or revoked.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.idle_expires_at.min(self.absolute_expires_at)
    }
}
