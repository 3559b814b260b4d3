//! What only an admin does to users.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::Email;
use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::{AppMetadata, User};

use crate::error::StoreResult;
use crate::outbox::NewMail;

/// Where a page of users begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserPosition {
    /// After so many.
    Offset(u64),
    /// After this one: keyset pages, which stay right while users come and go.
    After {
        /// When the last user of the page before was made.
        created_at: Timestamp,
        /// Its id.
        id: UserId,
    },
}

/// A question for users.
#[derive(Debug, Clone)]
pub struct ListUsers {
    /// Part of the address or of the profile's name, without ASCII case; also a whole user id.
    pub search: Option<String>,
    /// Where to begin.
    pub position: UserPosition,
    /// How many.
    pub limit: u32,
}

/// A page of users.
#[derive(Debug, Clone, PartialEq)]
pub struct UserPage {
    /// Users, newest first, then by id descending.
    pub users: Vec<User>,
    /// How many there are in all.
    pub total: u64,
    /// Whether there are more after these.
    pub has_more: bool,
}

/// A change of a user by an admin.
#[derive(Debug, Clone)]
pub struct UpdateUser {
    /// Whom.
    pub id: UserId,
    /// A new address: ends outstanding codes and tokens; unverified unless `email_verified` says otherwise.
    pub email: Option<Email>,
    /// Whether the address counts as proven.
    pub email_verified: Option<bool>,
    /// Ban (ends all sessions, codes and tokens) or lift a ban.
    pub banned: Option<bool>,
    /// Replaces the application data.
    pub metadata: Option<AppMetadata>,
    /// What the audit says, one event each; the store fills in the user.
    pub events: Vec<AuditEvent>,
    /// The mail of kind [`crate::MailKind::EmailChanged`] to the old address, where such mails are wanted.
    pub mail: Option<NewMail>,
    /// When.
    pub now: Timestamp,
}

/// What came of changing a user.
#[derive(Debug, Clone, PartialEq)]
pub enum UpdateUserOutcome {
    /// The user as it is now.
    Updated(Box<User>),
    /// No such user.
    NotFound,
    /// The address has another account.
    EmailTaken,
}

/// What only an admin does to users.
#[async_trait]
pub trait AdminUsers {
    /// A page of users.
    async fn list_users(&self, list: &ListUsers) -> StoreResult<UserPage>;

    /// Changes a user.
    async fn update_user(&self, update: UpdateUser) -> StoreResult<UpdateUserOutcome>;

    /// Deletes users with all that is theirs but the audit; unknown ids are skipped. One event per deleted user, made
    /// of `events` (one for each id, in the same order). Answers how many were deleted.
    async fn delete_users(&self, ids: &[UserId], events: Vec<AuditEvent>) -> StoreResult<u64>;

    /// Ends all sessions of a user; answers how many, `None` where there is no such user.
    async fn end_all_sessions(
        &self,
        id: UserId,
        event: AuditEvent,
        now: Timestamp,
    ) -> StoreResult<Option<u64>>;

    /// Deletes a user's profile; `false` where there is none.
    async fn delete_profile(&self, id: UserId, event: AuditEvent) -> StoreResult<bool>;
}
