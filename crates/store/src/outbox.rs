//! Contract for the outbox. A mail is written in the transaction that causes it. A worker claims it under a lease and
//! sends it outside any transaction.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::Email;
use latchkey_domain::ids::{LeaseId, MailId, UserId};
use latchkey_domain::locale::Locale;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::mail_schedule::MailSchedule;
pub use latchkey_domain::new_mail::NewMail;
use latchkey_domain::profile::Name;
use latchkey_domain::time::Timestamp;
use latchkey_domain::words;

use crate::error::StoreResult;

/// Recipient of a mail, with the account's state at the time when a worker claims the mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipient {
    /// Id of the recipient's user; `None` for an address without an account.
    pub user_id: Option<UserId>,
    /// Address that the mail was written for. The account may have another address by now.
    pub email: Email,
    /// Name in the user's profile; `None` without a profile.
    pub name: Option<Name>,
    /// Language of the account's mails; `None` uses the language of the request that caused the mail.
    pub locale: Option<Locale>,
    /// True if no data in the account is known to be the mailbox owner's, because sign-ups had different passwords, or
    /// a provider created the account without verifying the address. The mail then warns the owner of this.
    pub is_contested: bool,
    /// True if the account is neither verified nor pending. Somebody without access to the mailbox may then be signed
    /// in to it.
    pub is_entered: bool,
    /// True if the account has credentials that are not known to be the mailbox owner's. A sign-in by mail removes
    /// them ([`latchkey_domain::email_verification::AccountFacts::may_be_hijacked`]).
    pub may_be_hijacked: bool,
}

/// A mail claimed for delivery under a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedMail {
    /// Id of the mail.
    pub id: MailId,
    /// Kind of the mail, which selects the template.
    pub kind: MailKind,
    /// User and address to send the mail to.
    pub recipient: Recipient,
    /// Data for the template, without those of the recipient, sealed under the server secret.
    pub sealed: Vec<u8>,
    /// Time at which the mail was written to the outbox.
    pub created_at: Timestamp,
    /// Number of delivery attempts before this claim.
    pub attempts: u32,
}

/// Lease under which a worker holds the mails that it claimed in one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Id of the lease, unique per claim.
    pub id: LeaseId,
    /// End of the lease. From then on other workers may claim the mails.
    pub until: Timestamp,
}

/// Result of a delivery attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailFate {
    /// The mail was sent. Its sealed data are deleted.
    Sent,
    /// The attempt failed, and another one is scheduled.
    RetryAt {
        /// Time of the next attempt.
        at: Timestamp,
        /// Error message for the operator, without addresses or codes.
        error: String,
    },
    /// The attempt failed permanently. The mail is dead and stays stored for the operator.
    Dead {
        /// Error message for the operator, without addresses or codes.
        error: String,
    },
}

words! {
    /// State of a mail in the outbox.
    pub enum MailState {
        /// Waiting for delivery, or leased to a worker.
        Queued = "queued",
        /// Accepted by the mail transport.
        Sent = "sent",
        /// Failed permanently. Only [`Outbox::retry_mails`] schedules another attempt.
        Dead = "dead",
        /// A decoy: stored so that a request costs the same for an address that may not have the mail. It is never
        /// sent or listed.
        Decoy = "decoy",
    }
}

/// A mail as shown to the operator, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedMail {
    /// Id of the mail.
    pub id: MailId,
    /// Kind of the mail.
    pub kind: MailKind,
    /// User that the mail was written for; `None` for an address without an account.
    pub user_id: Option<UserId>,
    /// Address that the mail was written for.
    pub email: Email,
    /// Delivery state of the mail.
    pub state: MailState,
    /// Number of delivery attempts since the mail was last queued.
    pub attempts: u32,
    /// Time at which the mail was written to the outbox.
    pub created_at: Timestamp,
    /// Time of the next attempt while the mail is queued, or end of the lease.
    pub next_attempt_at: Timestamp,
    /// Time at which the mail was sent or died; `None` while it is queued.
    pub ended_at: Option<Timestamp>,
    /// Error message of the last failed attempt, if any.
    pub last_error: Option<String>,
}

/// Place of a mail in a list of mails, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailKey {
    /// Time at which the mail was written.
    pub created_at: Timestamp,
    /// Id of the mail.
    pub id: MailId,
}

/// Start of a page in a list of mails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MailPosition {
    /// The page begins with the newest mail.
    #[default]
    First,
    /// The page begins after this mail.
    After(MailKey),
    /// The page ends before this mail.
    Before(MailKey),
}

/// Filter and page of a list of mails.
#[derive(Debug, Clone, Default)]
pub struct ListMails {
    /// State of the mails; `None` lists those of any state but [`MailState::Decoy`].
    pub state: Option<MailState>,
    /// Address that the mails were written for, ASCII case-insensitive; `None` lists those to any address.
    pub to: Option<Email>,
    /// Start of the page.
    pub position: MailPosition,
    /// Maximum number of mails on the page.
    pub limit: u32,
}

impl ListMails {
    /// Returns the list of the newest mails in a state, or in any state with `None`.
    #[must_use]
    pub const fn newest(state: Option<MailState>, limit: u32) -> Self {
        Self { state, to: None, position: MailPosition::First, limit }
    }
}

/// A page of a list of mails. Page and numbers are read from one database snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailPage {
    /// Mails of the page, newest first, then by id descending.
    pub mails: Vec<ListedMail>,
    /// Number of mails that match the filter, over all pages.
    pub total: u64,
    /// Number of all mails that wait.
    pub queued: u64,
    /// Number of all dead mails.
    pub dead: u64,
    /// True if the list goes on: after this page, or before it for [`MailPosition::Before`].
    pub has_more: bool,
}

/// A mail with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMail {
    /// The mail without its content.
    pub mail: ListedMail,
    /// Data for the template, sealed under the server secret; `None` once the mail is sent.
    pub sealed: Option<Vec<u8>>,
    /// True if a code or link that was written with the mail was neither used nor replaced by a newer one.
    pub has_live_secret: bool,
}

/// A dead mail to be queued again.
#[derive(Debug, Clone)]
pub struct RetryMail {
    /// Id of the mail.
    pub id: MailId,
    /// Audit event of the retry. The store fills in the user id.
    pub event: AuditEvent,
}

/// The outbox: mails waiting for delivery, and mails already sent or dead.
#[async_trait]
pub trait Outbox {
    /// Claims mails that are due by [`MailSchedule::is_due`], oldest first, at most `limit`. If the worker crashes,
    /// they can be claimed again when the lease ends.
    async fn claim_mails(
        &self,
        lease: Lease,
        schedule: &MailSchedule,
        limit: u32,
        now: Timestamp,
    ) -> StoreResult<Vec<ClaimedMail>>;

    /// Stores the result of a delivery attempt. Returns `false` if the mail is no longer under this lease.
    async fn settle_mail(
        &self,
        id: MailId,
        lease: LeaseId,
        fate: MailFate,
        now: Timestamp,
    ) -> StoreResult<bool>;

    /// Returns the earliest time at which a queued mail is due or a lease ends; `None` if no mail is queued.
    async fn next_mail_due(&self) -> StoreResult<Option<Timestamp>>;

    /// Lists one page of the mails that match a filter. Decoys ([`MailState::Decoy`]) are left out.
    async fn list_mails(&self, list: &ListMails) -> StoreResult<MailPage>;

    /// Lists the mails of a user that were written after `since`, newest first, at most `limit`.
    async fn list_mails_of(
        &self,
        user_id: UserId,
        since: Timestamp,
        limit: u32,
    ) -> StoreResult<Vec<ListedMail>>;

    /// Returns a mail with its content; `None` if there is none of this id, or only a decoy.
    async fn find_mail(&self, id: MailId) -> StoreResult<Option<StoredMail>>;

    /// Lists the dead mails that precede a position, newest first, at most `limit`; the newest with `None`.
    async fn list_dead_mails(&self, after: Option<MailKey>, limit: u32) -> StoreResult<Vec<StoredMail>>;

    /// Queues dead mails again, and records the audit event of each. Mails that are not dead any more are skipped. Returns
    /// the number of queued mails.
    async fn retry_mails(&self, retries: Vec<RetryMail>, now: Timestamp) -> StoreResult<u64>;
}
