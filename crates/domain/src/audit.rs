//! Audit events: who did what, when, from where.

use serde_json::{Map, Value};

use crate::client::Client;
use crate::ids::{EventId, SessionId, UserId};
use crate::time::Timestamp;

macro_rules! audit_kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What happened.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum AuditKind { $($(#[$doc])* $name,)* }

        impl AuditKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The name that stores keep and the admin interface shows.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

audit_kinds! {
    /// An account was made.
    SignedUp = "sign_up",
    /// Somebody signed up with the address of a verified account.
    SignUpRepeated = "sign_up_repeated",
    /// A session was opened.
    SignedIn = "sign_in",
    /// A password was wrong, or the account may not sign in.
    SignInFailed = "sign_in_failed",
    /// A session was ended by its user.
    SignedOut = "sign_out",
    /// A replaced refresh token came back as a sign of theft; the session was ended.
    RefreshReused = "refresh_reuse",
    /// An address was proven.
    EmailVerified = "email_verified",
    /// A reset code was exchanged for a reset token.
    ResetCodeExchanged = "reset_code_exchanged",
    /// A password was set by reset.
    PasswordReset = "password_reset",
    /// A password was changed by its owner.
    PasswordChanged = "password_changed",
    /// An address was changed.
    EmailChanged = "email_changed",
    /// An identity was linked.
    IdentityLinked = "identity_linked",
    /// An identity was unlinked.
    IdentityUnlinked = "identity_unlinked",
    /// An account was banned.
    UserBanned = "user_banned",
    /// A ban was lifted.
    UserUnbanned = "user_unbanned",
    /// An account was made by an admin.
    UserCreated = "user_created",
    /// An account was changed by an admin.
    UserUpdated = "user_updated",
    /// An account was deleted.
    UserDeleted = "user_deleted",
    /// A profile was deleted.
    ProfileDeleted = "profile_deleted",
    /// All sessions of a user were ended by an admin.
    SessionsEnded = "sessions_ended",
    /// Settings were changed.
    SettingsChanged = "settings_changed",
    /// The signing key was rotated.
    KeyRotated = "key_rotated",
    /// An admin credential was refused.
    AdminRefused = "admin_refused",
    /// A limit refused a request about the account.
    RequestLimited = "request_limited",
}

impl AuditKind {
    /// Failures: where they are about no account, they are kept for a shorter time.
    pub const FAILURES: [Self; 3] = [Self::SignInFailed, Self::AdminRefused, Self::RequestLimited];

    /// Reads the name that stores keep.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == text)
    }
}

/// Who caused an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// The user themselves, or somebody who claims to be.
    User,
    /// The holder of an admin key.
    Admin,
    /// The operator, on the command line, or the service itself.
    System,
}

impl Actor {
    /// The name that stores keep and the admin interface shows.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Admin => "admin",
            Self::System => "system",
        }
    }

    /// Reads the name that stores keep.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        [Self::User, Self::Admin, Self::System].into_iter().find(|actor| actor.as_str() == text)
    }
}

/// An event. It outlives the user it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEvent {
    /// Its id; later events have greater ids.
    pub id: EventId,
    /// When.
    pub at: Timestamp,
    /// What.
    pub kind: AuditKind,
    /// Who.
    pub actor: Actor,
    /// About whom. Where an operation finds the user only inside the store, the store fills it in.
    pub user_id: Option<UserId>,
    /// In which session. Filled in by the store likewise.
    pub session_id: Option<SessionId>,
    /// From where.
    pub client: Option<Client>,
    /// What else is worth knowing: names of changed settings, reasons. Never a secret, never an address.
    pub details: Map<String, Value>,
}
