//! Users: the records by which accounts are authenticated. Public data of a user are in [`crate::profile`].

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::email::Email;
use crate::id::id;
use crate::mail_kind::MailKind;
use crate::passkey::RpId;
use crate::profile::fields::bounded_object;
use crate::profile::{AvatarUrl, Name, TooLarge, check_object_size};
use crate::reason::{self, Reason};
use crate::shape::{Shape, Shaped};
use crate::time::Timestamp;

/// Entry in a user's `providers` if the user has a password.
pub const EMAIL_PROVIDER: &str = "email";
/// Entry in a user's `providers` if the user has a passkey.
pub const PASSKEY_PROVIDER: &str = "passkey";

id! {
    /// Id of a user: `sub` of access tokens, `auth_id` of the profile API.
    UserId, "The id of the user: `sub` of access tokens, `auth_id` of profiles."
}

/// A user as stored, with the name and picture of the profile.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, PartialEq)]
pub struct User {
    /// Id of the user.
    pub id: UserId,
    /// Email address, unique over all users.
    pub email: Email,
    /// True if the user's control of the email address was verified.
    pub email_verified: bool,
    /// True if the user has a password.
    pub has_password: bool,
    /// Keys of the providers of linked identities, sorted.
    pub identities: Vec<String>,
    /// Relying party id of each of the user's passkeys: one entry for every passkey.
    pub passkeys: Vec<RpId>,
    /// Time at which the user was banned; `None` if not banned.
    pub banned_at: Option<Timestamp>,
    /// Time at which two-step sign-in was turned on; `None` if it is off.
    pub two_step_at: Option<Timestamp>,
    /// Time from which the account is deleted for good, because its owner deleted it; `None` unless it is in deletion.
    pub deletes_at: Option<Timestamp>,
    /// True if the account was signed up while verification was required, never verified, and never had a session.
    pub is_pending: bool,
    /// True if no data in the account is known to be the mailbox owner's, because sign-ups had different passwords, or
    /// a provider created the account without verifying the address. Verification removes the password.
    pub is_contested: bool,
    /// Application data that only admins write.
    pub metadata: AppMetadata,
    /// Time at which the user was created.
    pub created_at: Timestamp,
    /// Time of the last change of the user.
    pub updated_at: Timestamp,
    /// Time of the last completed sign-in; `None` if there was none.
    pub last_sign_in_at: Option<Timestamp>,
    /// Name and picture of the user's profile; `None` without a profile.
    pub profile: Option<UserProfile>,
}

/// The part of a profile that responses about a user include.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserProfile {
    /// Display name of the profile.
    pub name: Name,
    /// URL of the profile's picture; `None` if not set.
    pub avatar_url: Option<AvatarUrl>,
}

impl User {
    /// Returns the methods of sign-in: `email` if the user has a password, then the keys of linked identity providers,
    /// then `passkey` if the user has one.
    #[must_use]
    pub fn providers(&self) -> Vec<&str> {
        let own = self.has_password.then_some(EMAIL_PROVIDER);
        let passkey = (!self.passkeys.is_empty()).then_some(PASSKEY_PROVIDER);
        own.into_iter().chain(self.identities.iter().map(String::as_str)).chain(passkey).collect()
    }

    /// True if the user has a passkey registered for this relying party id; false for `None`, which means that passkeys
    /// are off.
    #[must_use]
    pub fn has_usable_passkey(&self, rp_id: Option<&RpId>) -> bool {
        self.passkeys.iter().any(|of| Some(of) == rp_id)
    }

    /// True if two-step sign-in is on, so that a sign-in needs a second factor.
    #[must_use]
    pub const fn has_two_step(&self) -> bool {
        self.two_step_at.is_some()
    }

    /// True if the user is banned.
    #[must_use]
    pub const fn is_banned(&self) -> bool {
        self.banned_at.is_some()
    }

    /// True if the owner deleted the account and its grace period is not over: the profile is hidden, and a sign-in
    /// offers to restore the account.
    #[must_use]
    pub const fn is_in_deletion(&self) -> bool {
        self.deletes_at.is_some()
    }

    /// True if a further sign-up with the address renews the code of the account.
    #[must_use]
    pub const fn accepts_sign_up(&self) -> bool {
        self.is_pending && !self.is_banned()
    }

    /// True if codes and link tokens mailed to the address are accepted.
    #[must_use]
    pub const fn accepts_mailed_tokens(&self) -> bool {
        !self.is_banned()
    }

    /// True if mails about sign-ups with the address may be sent.
    #[must_use]
    pub const fn may_be_mailed(&self) -> bool {
        !self.is_banned() && !self.is_in_deletion()
    }

    /// True if a security notification of this kind may be sent. An unverified address may belong to another person, so
    /// it gets none. An account in deletion gets only those about resets and about the deletion.
    #[must_use]
    pub const fn may_be_notified(&self, kind: MailKind) -> bool {
        self.email_verified && !self.is_banned() && (!self.is_in_deletion() || kind.is_sent_in_deletion())
    }
}

bounded_object! {
    /// Application data of a user: a JSON object of at most 16 KiB as text. Only admins write it.
    AppMetadata
}

impl Shaped for AppMetadata {
    const SENT: Shape = Shape::object(
        "Application data, at most 16 KiB as JSON. Replaces the whole object.",
        r#"{"plan":"pro"}"#,
    );
    const SHOWN: Shape = Self::SENT.about("Application data that only an admin writes; never null.");
}
