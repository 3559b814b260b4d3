//! The outbox: mails written with what causes them, sent by a worker that claims them with a lease.

use async_trait::async_trait;
use latchkey_domain::email::Email;
use latchkey_domain::ids::{LeaseId, MailId, UserId};
use latchkey_domain::mail_schedule::MailSchedule;
use latchkey_domain::profile::Name;
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;

/// What a mail is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MailKind {
    /// Prove this address.
    Verify,
    /// Set a new password.
    Reset,
    /// Somebody signed up with the address of your account.
    SignUpAttempt,
    /// An identity was linked to your account.
    IdentityLinked,
    /// An identity was unlinked from your account.
    IdentityUnlinked,
    /// Your password was changed.
    PasswordChanged,
    /// Your password was reset.
    PasswordWasReset,
    /// Your account has another address now.
    EmailChanged,
    /// A replaced refresh token came back; its session was ended.
    SessionEndedForSafety,
}

impl MailKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::Verify,
        Self::Reset,
        Self::SignUpAttempt,
        Self::IdentityLinked,
        Self::IdentityUnlinked,
        Self::PasswordChanged,
        Self::PasswordWasReset,
        Self::EmailChanged,
        Self::SessionEndedForSafety,
    ];

    /// The name that stores keep.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Verify => "verify",
            Self::Reset => "reset",
            Self::SignUpAttempt => "sign_up_attempt",
            Self::IdentityLinked => "identity_linked",
            Self::IdentityUnlinked => "identity_unlinked",
            Self::PasswordChanged => "password_changed",
            Self::PasswordWasReset => "password_was_reset",
            Self::EmailChanged => "email_changed",
            Self::SessionEndedForSafety => "session_ended_for_safety",
        }
    }

    /// Reads the name that stores keep.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// A mail that is about to be written. Its kind and its recipient are the business of the operation that writes it.
#[derive(Debug, Clone)]
pub struct NewMail {
    /// Its id.
    pub id: MailId,
    /// What its template needs besides the recipient (a code, a link, an act), sealed under the server's key.
    pub sealed: Vec<u8>,
}

/// To whom a mail goes, as it is when the mail is claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipient {
    /// The user.
    pub user_id: UserId,
    /// The address the mail was written for.
    pub email: Email,
    /// The name of the user's profile, where there is one.
    pub name: Option<Name>,
    /// Whether the account is contested.
    pub is_contested: bool,
    /// Whether the account was never verified and is not pending: somebody may be inside.
    pub is_entered: bool,
}

/// A mail that a worker holds under a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedMail {
    /// Its id.
    pub id: MailId,
    /// What it is about.
    pub kind: MailKind,
    /// To whom it goes.
    pub recipient: Recipient,
    /// What its template needs, sealed.
    pub sealed: Vec<u8>,
    /// When it was written.
    pub created_at: Timestamp,
    /// How often it was tried before.
    pub attempts: u32,
}

/// A worker's hold on the mails of one claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Its id: a later claim of the same mail has another.
    pub id: LeaseId,
    /// When others may claim the mail again.
    pub until: Timestamp,
}

/// What became of a claimed mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailFate {
    /// Sent. Its sealed part is wiped.
    Sent,
    /// Not now.
    RetryAt {
        /// When to try again.
        at: Timestamp,
        /// Why, without addresses or codes.
        error: String,
    },
    /// Never. It is kept for the operator.
    Dead {
        /// Why, without addresses or codes.
        error: String,
    },
}

/// Where a mail stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailState {
    /// To be sent.
    Queued,
    /// Sent.
    Sent,
    /// Given up.
    Dead,
    /// Written for an address that may not have it; never sent, never listed.
    Decoy,
}

impl MailState {
    /// The name that stores keep.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sent => "sent",
            Self::Dead => "dead",
            Self::Decoy => "decoy",
        }
    }

    /// Reads the name that stores keep.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        [Self::Queued, Self::Sent, Self::Dead, Self::Decoy].into_iter().find(|state| state.as_str() == text)
    }
}

/// A mail as the operator sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedMail {
    /// Its id.
    pub id: MailId,
    /// What it is about.
    pub kind: MailKind,
    /// To which address.
    pub email: Email,
    /// Where it stands.
    pub state: MailState,
    /// How often it was tried.
    pub attempts: u32,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it is tried next.
    pub next_attempt_at: Timestamp,
    /// Why the last try failed.
    pub last_error: Option<String>,
}

/// The outbox.
#[async_trait]
pub trait Outbox {
    /// Claims mails that are due by the schedule ([`MailSchedule::is_due`]), oldest first. A crash leaves them to the next
    /// claim after the lease.
    async fn claim_mails(
        &self,
        lease: Lease,
        schedule: &MailSchedule,
        limit: u32,
        now: Timestamp,
    ) -> StoreResult<Vec<ClaimedMail>>;

    /// Settles a claimed mail; `false` where the lease is no longer the mail's.
    async fn settle_mail(
        &self,
        id: MailId,
        lease: LeaseId,
        fate: MailFate,
        now: Timestamp,
    ) -> StoreResult<bool>;

    /// When the next mail is due, queued or leased.
    async fn next_mail_due(&self) -> StoreResult<Option<Timestamp>>;

    /// Mails for the operator, newest first, without decoys; `state` narrows.
    async fn list_mails(&self, state: Option<MailState>, limit: u32) -> StoreResult<Vec<ListedMail>>;

    /// Puts dead mails back into the queue, one or (with `None`) all; answers how many.
    async fn retry_mails(&self, id: Option<MailId>, now: Timestamp) -> StoreResult<u64>;
}
