//! The outbox: mails are written in the transaction that causes them and sent by a worker that claims them under
//! a lease.

use async_trait::async_trait;
use latchkey_domain::email::Email;
use latchkey_domain::ids::{LeaseId, MailId, UserId};
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::mail_schedule::MailSchedule;
use latchkey_domain::profile::Name;
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;

/// A mail about to be written. The operation that writes it determines kind and recipient.
#[derive(Debug, Clone)]
pub struct NewMail {
    /// Id of the mail.
    pub id: MailId,
    /// Template data beside the recipient (a code, a link, an event), sealed under the server's key.
    pub sealed: Vec<u8>,
}

/// Recipient of a mail at the time of the claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipient {
    /// Id of the user.
    pub user_id: UserId,
    /// Address that the mail was written for.
    pub email: Email,
    /// Name in the user's profile, if there is one.
    pub name: Option<Name>,
    /// True if sign-ups with different passwords compete for the account.
    pub is_contested: bool,
    /// True if the account was never verified and is not pending: a stranger may be signed in.
    pub is_entered: bool,
}

/// A mail claimed by a worker under a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedMail {
    /// Id of the mail.
    pub id: MailId,
    /// Kind of the mail.
    pub kind: MailKind,
    /// Recipient of the mail.
    pub recipient: Recipient,
    /// Template data, sealed.
    pub sealed: Vec<u8>,
    /// Time of writing.
    pub created_at: Timestamp,
    /// Number of earlier attempts.
    pub attempts: u32,
}

/// A worker's lease on the mails of one claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Id of the lease; a later claim of the same mail has another.
    pub id: LeaseId,
    /// End of the lease; other workers may claim the mail from then on.
    pub until: Timestamp,
}

/// Result of a delivery attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailFate {
    /// Sent. The sealed part is deleted.
    Sent,
    /// Failed; retried later.
    RetryAt {
        /// Time of the next attempt.
        at: Timestamp,
        /// Reason, without addresses or codes.
        error: String,
    },
    /// Dead: failed for good, kept for the operator.
    Dead {
        /// Reason, without addresses or codes.
        error: String,
    },
}

/// State of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailState {
    /// Waiting to be sent.
    Queued,
    /// Sent.
    Sent,
    /// Dead: no more attempts.
    Dead,
    /// Decoy: written for an address that may not have the mail; never sent, never listed.
    Decoy,
}

impl MailState {
    /// Name in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sent => "sent",
            Self::Dead => "dead",
            Self::Decoy => "decoy",
        }
    }

    /// Parses the name in the database.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        [Self::Queued, Self::Sent, Self::Dead, Self::Decoy].into_iter().find(|state| state.as_str() == text)
    }
}

/// A mail as shown to the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedMail {
    /// Id of the mail.
    pub id: MailId,
    /// Kind of the mail.
    pub kind: MailKind,
    /// Address of the recipient.
    pub email: Email,
    /// State of the mail.
    pub state: MailState,
    /// Number of attempts.
    pub attempts: u32,
    /// Time of writing.
    pub created_at: Timestamp,
    /// Time of the next attempt.
    pub next_attempt_at: Timestamp,
    /// Reason of the last failure.
    pub last_error: Option<String>,
}

/// The outbox.
#[async_trait]
pub trait Outbox {
    /// Claims due mails by the schedule ([`MailSchedule::is_due`]), oldest first. After a crash the mails are
    /// claimed again once the lease ends.
    async fn claim_mails(
        &self,
        lease: Lease,
        schedule: &MailSchedule,
        limit: u32,
        now: Timestamp,
    ) -> StoreResult<Vec<ClaimedMail>>;

    /// Settles a claimed mail; `false` if the mail has another lease by now.
    async fn settle_mail(
        &self,
        id: MailId,
        lease: LeaseId,
        fate: MailFate,
        now: Timestamp,
    ) -> StoreResult<bool>;

    /// Due time of the next mail, queued or leased.
    async fn next_mail_due(&self) -> StoreResult<Option<Timestamp>>;

    /// Mails for the operator, newest first, without decoys; `state` filters.
    async fn list_mails(&self, state: Option<MailState>, limit: u32) -> StoreResult<Vec<ListedMail>>;

    /// Requeues dead mails, one or (with `None`) all; returns their number.
    async fn retry_mails(&self, id: Option<MailId>, now: Timestamp) -> StoreResult<u64>;
}
