//! Contract for the deletion of an account by its owner. During the grace period the account is hidden, and its owner
//! may restore it: by the answer to a challenge ([`crate::Shown::Restore`]), or by an undo link.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::locale::Locale;
use latchkey_domain::time::Timestamp;

use crate::email_codes::NewToken;
use crate::error::{GuardedResult, StoreResult};
use crate::outbox::NewMail;

/// Deletion of an account by its owner.
#[derive(Debug, Clone)]
pub struct DeleteAccount {
    /// Id of the account.
    pub user_id: UserId,
    /// Session of the caller, which must be live.
    pub session_id: SessionId,
    /// Time from which the account is deleted for good. Without a grace period it is the time of the request, and the
    /// account is deleted at once.
    pub deletes_at: Timestamp,
    /// Audit event of kind `DeletionScheduled`; without a grace period, of kind `UserDeleted`. The store fills in user
    /// id and session id.
    pub event: AuditEvent,
    /// Mail of kind `DeletionScheduled`; without a grace period, of kind `AccountDeleted`. `None` writes no mail.
    pub mail: Option<NewMail>,
    /// Undo token in the mail. It is written only with the mail, and only if there is a grace period.
    pub undo: Option<NewToken>,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Account whose grace period is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueDeletion {
    /// Id of the account.
    pub user_id: UserId,
    /// Language of the account's mails; `None` if it is open. The mail about the deletion finds no account to ask.
    pub locale: Option<Locale>,
}

/// Deletion for good of an account whose grace period is over.
#[derive(Debug, Clone)]
pub struct FinishedDeletion {
    /// Id of the account.
    pub user_id: UserId,
    /// Audit event of kind `UserDeleted`. The store fills in the user id.
    pub event: AuditEvent,
    /// Mail of kind `AccountDeleted`; `None` writes no mail.
    pub mail: Option<NewMail>,
}

/// Deletion of accounts by their owners.
#[async_trait]
pub trait Deletions {
    /// Schedules the deletion of an account, or deletes it at once if there is no grace period. Its sessions end, its
    /// codes, tokens and challenges become invalid, and its profile is hidden. Returns false, and changes nothing, if
    /// the session is not live. Refused for the account of the last owner.
    async fn delete_account(&self, delete: DeleteAccount) -> GuardedResult<bool>;

    /// Lists accounts whose grace period is over, at most [`crate::ACCOUNT_PURGE_BATCH`].
    async fn list_due_deletions(&self, now: Timestamp) -> StoreResult<Vec<DueDeletion>>;

    /// Deletes accounts for good, with everything that belongs to them, unless they were restored meanwhile. Their audit
    /// events stay, without network address and user agent. Returns the number of deleted accounts.
    async fn finish_deletions(&self, due: Vec<FinishedDeletion>, now: Timestamp) -> StoreResult<u64>;
}
