//! Users: the authentication records of accounts.

use serde_json::{Map, Value};

use crate::email::Email;
use crate::ids::UserId;
use crate::profile::{AvatarUrl, Name};
use crate::reason::{self, Reason};
use crate::shape::{Shape, Shaped};
use crate::time::Timestamp;

/// Entry for password accounts in a user's `providers`.
pub const EMAIL_PROVIDER: &str = "email";

/// A stored user, with the part of its profile that account operations show.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, PartialEq)]
pub struct User {
    /// User id.
    pub id: UserId,
    /// Email address.
    pub email: Email,
    /// True if the email address is verified.
    pub email_verified: bool,
    /// True if a password is set.
    pub has_password: bool,
    /// Keys of linked identity providers, sorted.
    pub identities: Vec<String>,
    /// Time of the ban, if banned.
    pub banned_at: Option<Timestamp>,
    /// Created by a sign-up that required verification; never verified, never had a session.
    pub is_pending: bool,
    /// Pending, with further sign-ups under other passwords: no password so far survives verification.
    pub is_contested: bool,
    /// Application data that only an admin writes.
    pub metadata: AppMetadata,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Name and avatar of its profile, if it has one.
    pub profile: Option<UserProfile>,
}

/// The part of a profile that account operations show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserProfile {
    /// Display name.
    pub name: Name,
    /// Picture URL.
    pub avatar_url: Option<AvatarUrl>,
}

impl User {
    /// `email` when a password is set, then the linked identity providers.
    #[must_use]
    pub fn providers(&self) -> Vec<&str> {
        let own = self.has_password.then_some(EMAIL_PROVIDER);
        own.into_iter().chain(self.identities.iter().map(String::as_str)).collect()
    }

    /// True if the account is banned.
    #[must_use]
    pub const fn is_banned(&self) -> bool {
        self.banned_at.is_some()
    }

    /// True if a further sign-up with its address may renew the account.
    #[must_use]
    pub const fn accepts_sign_up(&self) -> bool {
        self.is_pending && !self.is_banned()
    }

    /// True if codes and link tokens that were mailed to its address are accepted.
    #[must_use]
    pub const fn accepts_mailed_tokens(&self) -> bool {
        !self.is_banned()
    }

    /// True if mail about a sign-up with its address may be sent.
    #[must_use]
    pub const fn may_be_mailed(&self) -> bool {
        !self.is_banned()
    }

    /// True if security notifications may be sent: an unverified address may belong to somebody else.
    #[must_use]
    pub const fn may_be_notified(&self) -> bool {
        self.email_verified && !self.is_banned()
    }
}

/// A user's metadata: a JSON object of at most 16 KiB as text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AppMetadata(Map<String, Value>);

impl Shaped for AppMetadata {
    const SENT: Shape = Shape::object(
        "Application data, at most 16 KiB as JSON. Replaces the whole object.",
        r#"{"plan":"pro"}"#,
    );
    const SHOWN: Shape = Self::SENT.about("Application data that only an admin writes; never null.");
}

impl AppMetadata {
    /// Wraps an object of at most 16 KiB.
    pub fn new(object: Map<String, Value>) -> Result<Self, crate::profile::TooLarge> {
        crate::profile::check_object_size(&object)?;
        Ok(Self(object))
    }

    /// Restores a stored value.
    #[must_use]
    pub const fn from_stored(object: Map<String, Value>) -> Self {
        Self(object)
    }

    /// The JSON object.
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
