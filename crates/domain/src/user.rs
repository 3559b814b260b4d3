//! Users: the authentication record behind an account.

use serde_json::{Map, Value};

use crate::email::Email;
use crate::ids::UserId;
use crate::profile::{AvatarUrl, Name};
use crate::reason::{self, Reason};
use crate::time::Timestamp;

/// The provider marker of accounts with a password.
pub const EMAIL_PROVIDER: &str = "email";

/// A user as it stands in a store, with what account operations show of its profile.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, PartialEq)]
pub struct User {
    /// Its id.
    pub id: UserId,
    /// Its address.
    pub email: Email,
    /// Whether the address was proven.
    pub email_verified: bool,
    /// Whether it has a password.
    pub has_password: bool,
    /// Keys of linked identity providers, sorted.
    pub identities: Vec<String>,
    /// When it was banned, if it is.
    pub banned_at: Option<Timestamp>,
    /// Made by a sign-up while verification was required, never verified, never had a session.
    pub is_pending: bool,
    /// Pending, and signed up again with another password: no password given so far will survive verification.
    pub is_contested: bool,
    /// Application data that only an admin writes.
    pub metadata: AppMetadata,
    /// When it was made.
    pub created_at: Timestamp,
    /// When the record last changed.
    pub updated_at: Timestamp,
    /// Name and avatar of its profile, where it has one.
    pub profile: Option<UserProfile>,
}

/// What account operations show of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserProfile {
    /// The profile's name.
    pub name: Name,
    /// The profile's picture.
    pub avatar_url: Option<AvatarUrl>,
}

impl User {
    /// `email` when a password is set, then the linked identity providers.
    #[must_use]
    pub fn providers(&self) -> Vec<&str> {
        let own = self.has_password.then_some(EMAIL_PROVIDER);
        own.into_iter().chain(self.identities.iter().map(String::as_str)).collect()
    }

    /// Whether the account is banned.
    #[must_use]
    pub const fn is_banned(&self) -> bool {
        self.banned_at.is_some()
    }

    /// Whether its owner gets mails that nobody asked for: an address that is not proven may be somebody else's.
    #[must_use]
    pub const fn may_be_notified(&self) -> bool {
        self.email_verified && !self.is_banned()
    }
}

/// A user's metadata: a JSON object of at most 16 KiB as text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AppMetadata(Map<String, Value>);

impl AppMetadata {
    /// Takes an object, unless it is too large.
    pub fn new(object: Map<String, Value>) -> Result<Self, crate::profile::TooLarge> {
        crate::profile::check_object_size(&object)?;
        Ok(Self(object))
    }

    /// Takes back what a store kept.
    #[must_use]
    pub const fn from_stored(object: Map<String, Value>) -> Self {
        Self(object)
    }

    /// The object.
    #[must_use]
    pub const fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }
}

impl<'de> serde::Deserialize<'de> for AppMetadata {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(Map::deserialize(deserializer)?).map_err(|error| reason::refusal(Reason::TooLarge, error))
    }
}
