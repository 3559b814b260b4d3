//! Audit events: kind, actor, time, client, and the user and session concerned.

mod filter;

use serde_json::{Map, Value};

use crate::client::Client;
use crate::id::id;
use crate::session::SessionId;
use crate::time::Timestamp;
use crate::user::UserId;
use crate::words;

pub use filter::AuditFilter;

id! {
    /// Id of an audit event.
    EventId, "The id of the event; later events have greater ids."
}

words! {
    /// Kind of an audit event. The string is its name in the database and in the admin API.
    pub enum AuditKind {
        /// A sign-up created an account.
        SignedUp = "sign_up",
        /// A sign-up named the email address of an existing account, and created no account.
        SignUpRepeated = "sign_up_repeated",
        /// A session was opened by any sign-in method.
        SignedIn = "sign_in",
        /// A sign-in was refused: the password was wrong, or the account may not sign in. Or the password or mailed code
        /// of a reauthentication was wrong.
        SignInFailed = "sign_in_failed",
        /// A user signed out or ended own sessions, or the service ended a session without a required second factor.
        SignedOut = "sign_out",
        /// A refresh token was reused after its replacement, which indicates theft. The session was ended.
        RefreshReused = "refresh_reuse",
        /// An email address was verified by code, link or identity provider.
        EmailVerified = "email_verified",
        /// A reset code was exchanged for a reset token.
        ResetCodeExchanged = "reset_code_exchanged",
        /// A password was set with a reset token.
        PasswordReset = "password_reset",
        /// The owner of an account changed the password.
        PasswordChanged = "password_changed",
        /// The owner of an account without password set one, or an admin set one.
        PasswordSet = "password_set",
        /// The owner of an account began to change its email address.
        EmailChangeStarted = "email_change_started",
        /// The owner of an account cancelled a change of its email address.
        EmailChangeCancelled = "email_change_cancelled",
        /// The owner of an account, or an admin, changed its email address.
        EmailChanged = "email_changed",
        /// An identity was linked to an account.
        IdentityLinked = "identity_linked",
        /// An identity was unlinked from an account.
        IdentityUnlinked = "identity_unlinked",
        /// An admin banned an account.
        UserBanned = "user_banned",
        /// An admin lifted the ban of an account.
        UserUnbanned = "user_unbanned",
        /// An admin created an account.
        UserCreated = "user_created",
        /// An import created an account, or filled what it lacked.
        UserImported = "user_imported",
        /// An import of accounts from another service began.
        ImportStarted = "import_started",
        /// The accounts of an import were deleted again.
        ImportUndone = "import_undone",
        /// An admin changed the metadata of an account, or whether its address is verified.
        UserUpdated = "user_updated",
        /// An account was deleted for good: by an admin or the operator, or after its owner deleted it.
        UserDeleted = "user_deleted",
        /// An admin deleted a user's profile.
        ProfileDeleted = "profile_deleted",
        /// An admin removed the public text of a user's profile.
        ProfileCleared = "profile_cleared",
        /// An admin ended all sessions of a user.
        SessionsEnded = "sessions_ended",
        /// An admin ended one session of a user.
        SessionEnded = "session_ended",
        /// An admin queued a dead mail again.
        MailRetried = "mail_retried",
        /// An admin had a mail sent by which the user resets the password.
        ResetSent = "reset_sent",
        /// An admin had a mail sent by which the user verifies the address.
        VerificationSent = "verification_sent",
        /// The limits of an account were lifted.
        LimitsLifted = "limits_lifted",
        /// An operator opened the page of a user; at most one event per hour, operator and user.
        UserRead = "user_read",
        /// An operator exported the list of users as CSV.
        UsersExported = "users_exported",
        /// Settings or the configuration of an identity provider were changed.
        SettingsChanged = "settings_changed",
        /// An operator had an identity provider asked for its discovery document and keys.
        ProviderTested = "provider_tested",
        /// A new key that signs access tokens replaced the current one.
        KeyRotated = "key_rotated",
        /// The database was restored from a backup.
        DatabaseRestored = "database_restored",
        /// Everything that is sealed was sealed anew under another server secret.
        SecretRotated = "secret_rotated",
        /// A request with an invalid admin key was refused.
        AdminRefused = "admin_refused",
        /// The first factor of a sign-in was right, and a challenge was opened for the second one.
        SignInChallenged = "sign_in_challenged",
        /// A second factor was wrong, or its code was used before.
        SecondFactorFailed = "second_factor_failed",
        /// The owner of a session answered a reauthentication challenge correctly.
        Reauthenticated = "reauthenticated",
        /// A passkey was registered.
        PasskeyAdded = "passkey_added",
        /// A passkey was renamed.
        PasskeyRenamed = "passkey_renamed",
        /// A passkey was removed, by its owner or an admin.
        PasskeyRemoved = "passkey_removed",
        /// A passkey was refused although its signature was right: it may have been copied.
        PasskeyRefused = "passkey_refused",
        /// A TOTP factor was added.
        TotpAdded = "totp_added",
        /// A TOTP factor was removed.
        TotpRemoved = "totp_removed",
        /// Two-step sign-in was turned on.
        TwoStepOn = "two_step_on",
        /// Two-step sign-in was turned off.
        TwoStepOff = "two_step_off",
        /// A new set of recovery codes was made.
        RecoveryCodesMade = "recovery_codes_made",
        /// A recovery code was used.
        RecoveryCodeUsed = "recovery_code_used",
        /// An admin or the operator removed all second factors of an account.
        FactorsReset = "factors_reset",
        /// The owner deleted the account.
        DeletionScheduled = "deletion_scheduled",
        /// An account in deletion was restored, by its owner or an admin.
        DeletionCancelled = "deletion_cancelled",
        /// The owner of an account exported the data that is stored about it.
        AccountExported = "account_exported",
        /// All accounts were exported, by an admin key or on the machine itself.
        InstanceExported = "instance_exported",
        /// An undo link was used.
        Undone = "undone",
        /// An account got a role in the console.
        OperatorGranted = "operator_granted",
        /// An account lost its role in the console.
        OperatorRevoked = "operator_revoked",
        /// A new activation link was made for an operator, whose grant fell asleep.
        OperatorLinkMade = "operator_link_made",
        /// An operator activated the grant.
        OperatorActivated = "operator_activated",
        /// An operator asked for what the role does not permit.
        OperatorRefused = "operator_refused",
        /// A rate or guess limit refused requests for the account; at most one event per hour, account and limit.
        RequestLimited = "request_limited",
    }
}

impl AuditKind {
    /// Kinds of refused requests. Events of these kinds that name no user have a shorter retention.
    pub const FAILURES: [Self; 3] = [Self::SignInFailed, Self::AdminRefused, Self::RequestLimited];

    /// Kinds that the owner of an account does not see among the events of the account: they only report the requests of
    /// others, and changed nothing.
    pub const HIDDEN_FROM_OWNER: [Self; 4] =
        [Self::SignUpRepeated, Self::RequestLimited, Self::UserRead, Self::OperatorRefused];
}

words! {
    /// Kind of an actor. The string is its name in the database and in the admin API.
    pub enum ActorKind {
        /// See [`Actor::User`].
        User = "user",
        /// See [`Actor::Admin`].
        Admin = "admin",
        /// See [`Actor::Operator`].
        Operator = "operator",
        /// See [`Actor::System`].
        System = "system",
    }
}

/// Actor of an audit event, the party that caused it. It is stored as a word, and for an operator also as the id of the
/// operator's account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// The user, or a client that claims to be the user.
    User,
    /// The holder of an admin key.
    Admin,
    /// An operator in the console.
    Operator(UserId),
    /// The operator, on the command line, or the service itself.
    System,
}

impl Actor {
    /// Returns the kind of the actor.
    #[must_use]
    pub const fn kind(self) -> ActorKind {
        match self {
            Self::User => ActorKind::User,
            Self::Admin => ActorKind::Admin,
            Self::Operator(_) => ActorKind::Operator,
            Self::System => ActorKind::System,
        }
    }

    /// Returns the name of the actor in the database and in the admin API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.kind().as_str()
    }

    /// Returns the operator who acted; `None` for another actor.
    #[must_use]
    pub const fn operator(self) -> Option<UserId> {
        match self {
            Self::Operator(id) => Some(id),
            Self::User | Self::Admin | Self::System => None,
        }
    }

    /// Returns the actor with this name. An operator, and no other actor, needs an id.
    #[must_use]
    pub fn parse(word: &str, operator: Option<UserId>) -> Option<Self> {
        match (ActorKind::parse(word)?, operator) {
            (ActorKind::User, None) => Some(Self::User),
            (ActorKind::Admin, None) => Some(Self::Admin),
            (ActorKind::Operator, Some(id)) => Some(Self::Operator(id)),
            (ActorKind::System, None) => Some(Self::System),
            _ => None,
        }
    }
}

/// An audit event. It stays stored when its user is deleted.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEvent {
    /// Id of the event. UUID version 7, so later events have greater ids.
    pub id: EventId,
    /// Time at which the event happened.
    pub at: Timestamp,
    /// Kind of the event: what happened.
    pub kind: AuditKind,
    /// Actor that caused the event.
    pub actor: Actor,
    /// User concerned, if any. The store sets it where the caller does not know the user.
    pub user_id: Option<UserId>,
    /// Session concerned, if any. The store sets it where the caller does not know the session.
    pub session_id: Option<SessionId>,
    /// Client that made the request; `None` without a request.
    pub client: Option<Client>,
    /// Further data, such as names of changed settings or a reason. Never contains a secret or an email address.
    pub details: Map<String, Value>,
}
