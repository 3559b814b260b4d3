//! Sessions as others see them. Rotation of their refresh tokens is in [`crate::refresh`].

use std::time::Duration;

use crate::client::Client;
use crate::identity::IdentityId;
use crate::ids::{SessionId, UserId};
use crate::time::Timestamp;
use crate::tokens::TokenHash;

/// Sessions of one account that live at the same time. One more ends the one that was refreshed longest ago.
pub const MOST_LIVING: u32 = 100;

/// How a user proved who they are: values of the `amr` claim (RFC 8176 where it has one).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthMethod {
    /// A password.
    Password,
    /// A code or link sent to the address.
    Email,
    /// An external identity provider.
    Federated,
}

impl AuthMethod {
    /// The value of the claim, also what stores keep.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Password => "pwd",
            Self::Email => "otp",
            Self::Federated => "fed",
        }
    }

    /// Reads what stores keep.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        [Self::Password, Self::Email, Self::Federated].into_iter().find(|method| method.as_str() == text)
    }
}

/// A session that is about to be opened, made before the store is asked, for whatever user the store then finds.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Its id, `sid` of access tokens.
    pub id: SessionId,
    /// Hash of the family half of its refresh tokens.
    pub family: TokenHash,
    /// Hash of its first refresh token.
    pub refresh: TokenHash,
    /// When it is opened; also `auth_time`.
    pub created_at: Timestamp,
    /// When it ends without a refresh.
    pub idle_expires_at: Timestamp,
    /// When it ends in any case.
    pub absolute_expires_at: Timestamp,
    /// How the user proved who they are.
    pub method: AuthMethod,
    /// The identity that opens it, if one does: the session ends when that is unlinked.
    pub identity: Option<IdentityId>,
    /// Who opened it.
    pub client: Client,
    /// The time for which the account knows that client afterwards; `None` where clients are not remembered.
    pub known_for: Option<Duration>,
}

/// A session as it stands in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id, `sid` of access tokens.
    pub id: SessionId,
    /// Whose it is.
    pub user_id: UserId,
    /// When it was opened; also `auth_time`.
    pub created_at: Timestamp,
    /// When it was last refreshed (or opened).
    pub last_seen_at: Timestamp,
    /// When it ends without a refresh.
    pub idle_expires_at: Timestamp,
    /// When it ends in any case.
    pub absolute_expires_at: Timestamp,
    /// How the user proved who they are.
    pub method: AuthMethod,
    /// Who opened or last refreshed it.
    pub client: Client,
}

impl Session {
    /// When the session ends if nothing more happens.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.idle_expires_at.min(self.absolute_expires_at)
    }
}
