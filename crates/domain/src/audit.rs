//! Audit events: actor, action, time and client.

use serde_json::{Map, Value};

use crate::client::Client;
use crate::ids::{EventId, SessionId, UserId};
use crate::time::Timestamp;

macro_rules! audit_kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// Kind of an audit event.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum AuditKind { $($(#[$doc])* $name,)* }

        impl AuditKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Name in stores and in the admin interface.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

audit_kinds! {
    /// A sign-up created an account.
    SignedUp = "sign_up",
    /// A sign-up used the email address of a verified account.
    SignUpRepeated = "sign_up_repeated",
    /// A session was opened.
    SignedIn = "sign_in",
    /// A password was wrong, or the account may not sign in.
    SignInFailed = "sign_in_failed",
    /// A user signed out of a session.
    SignedOut = "sign_out",
    /// A replaced refresh token was presented, a sign of theft; the session was revoked.
    RefreshReused = "refresh_reuse",
    /// An email address was verified.
    EmailVerified = "email_verified",
    /// A reset code was exchanged for a reset token.
    ResetCodeExchanged = "reset_code_exchanged",
    /// A password was set by reset.
    PasswordReset = "password_reset",
    /// A password was changed by its owner.
    PasswordChanged = "password_changed",
    /// An email address was changed.
    EmailChanged = "email_changed",
    /// An identity was linked.
    IdentityLinked = "identity_linked",
    /// An identity was unlinked.
    IdentityUnlinked = "identity_unlinked",
    /// An account was banned.
    UserBanned = "user_banned",
    /// A ban was lifted.
    UserUnbanned = "user_unbanned",
    /// An admin created an account.
    UserCreated = "user_created",
    /// An admin changed an account.
    UserUpdated = "user_updated",
    /// An account was deleted.
    UserDeleted = "user_deleted",
    /// A profile was deleted.
    ProfileDeleted = "profile_deleted",
    /// An admin revoked all sessions of a user.
    SessionsEnded = "sessions_ended",
    /// Settings were changed.
    SettingsChanged = "settings_changed",
    /// The signing key was rotated.
    KeyRotated = "key_rotated",
    /// An admin credential was refused.
    AdminRefused = "admin_refused",
    /// A rate or guess limit refused a request for the account.
    RequestLimited = "request_limited",
}

impl AuditKind {
    /// Failures. Those without an account have a shorter retention.
    pub const FAILURES: [Self; 3] = [Self::SignInFailed, Self::AdminRefused, Self::RequestLimited];

    /// Parses [`Self::as_str`].
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == text)
    }
}

/// Originator of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// The user, or a client that claims to be the user.
    User,
    /// The holder of an admin key.
    Admin,
    /// The operator, on the command line, or the service itself.
    System,
}

impl Actor {
    /// Name in stores and in the admin interface.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Admin => "admin",
            Self::System => "system",
        }
    }

    /// Parses [`Self::as_str`].
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        [Self::User, Self::Admin, Self::System].into_iter().find(|actor| actor.as_str() == text)
    }
}

/// An audit event. It outlives its user.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEvent {
    /// UUID version 7: later events have greater ids.
    pub id: EventId,
    /// Time of the event.
    pub at: Timestamp,
    /// Kind of the event.
    pub kind: AuditKind,
    /// Originator of the event.
    pub actor: Actor,
    /// User concerned. If an operation finds the user only inside the store, the store sets it.
    pub user_id: Option<UserId>,
    /// Session concerned; set by the store likewise.
    pub session_id: Option<SessionId>,
    /// Client that made the request.
    pub client: Option<Client>,
    /// Further data: names of changed settings, reasons. Never a secret or an email address.
    pub details: Map<String, Value>,
}
