//! Operations on users reserved for admins.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::Email;
use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::{AppMetadata, User};

use crate::error::StoreResult;
use crate::outbox::NewMail;

/// Start of a page of users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserPosition {
    /// Number of users to skip.
    Offset(u64),
    /// Keyset cursor: the last user of the previous page. Stays correct while users are created and deleted.
    After {
        /// Time of creation of that user.
        created_at: Timestamp,
        /// Id of that user.
        id: UserId,
    },
}

/// A query for users.
#[derive(Debug, Clone)]
pub struct ListUsers {
    /// Substring of the address or of the profile's name, ASCII case-insensitive; or a complete user id.
    pub search: Option<String>,
    /// Start of the page.
    pub position: UserPosition,
    /// Page size.
    pub limit: u32,
}

/// A page of users.
#[derive(Debug, Clone, PartialEq)]
pub struct UserPage {
    /// Users, newest first, then by id descending.
    pub users: Vec<User>,
    /// Total number of matching users.
    pub total: u64,
    /// True if more users follow.
    pub has_more: bool,
}

/// A change of a user by an admin.
#[derive(Debug, Clone)]
pub struct UpdateUser {
    /// Id of the user.
    pub id: UserId,
    /// New address: invalidates outstanding codes and tokens; unverified unless `email_verified` is set.
    pub email: Option<Email>,
    /// Sets whether the address counts as verified.
    pub email_verified: Option<bool>,
    /// Bans (ends all sessions, codes and tokens) or lifts a ban.
    pub banned: Option<bool>,
    /// Replaces the application metadata.
    pub metadata: Option<AppMetadata>,
    /// Audit events; the store fills in the user.
    pub events: Vec<AuditEvent>,
    /// Mail of kind `EmailChanged` to the old address, if security notifications are on.
    pub mail: Option<NewMail>,
    /// Time of the request.
    pub now: Timestamp,
}

/// Outcome of changing a user.
#[derive(Debug, Clone, PartialEq)]
pub enum UpdateUserOutcome {
    /// The user after the change.
    Updated(Box<User>),
    /// Unknown user.
    NotFound,
    /// The address belongs to another account.
    EmailTaken,
}

/// Operations on users reserved for admins.
#[async_trait]
pub trait AdminUsers {
    /// A page of users.
    async fn list_users(&self, list: &ListUsers) -> StoreResult<UserPage>;

    /// Changes a user.
    async fn update_user(&self, update: UpdateUser) -> StoreResult<UpdateUserOutcome>;

    /// Deletes users with all that is theirs but the audit trail; unknown ids are skipped. Writes one event per
    /// deleted user from `events` (parallel to `ids`). Returns the number of deleted users.
    async fn delete_users(&self, ids: &[UserId], events: Vec<AuditEvent>) -> StoreResult<u64>;

    /// Ends all sessions of a user; returns their number, `None` for an unknown user.
    async fn end_all_sessions(
        &self,
        id: UserId,
        event: AuditEvent,
        now: Timestamp,
    ) -> StoreResult<Option<u64>>;

    /// Deletes a user's profile; `false` if there is none.
    async fn delete_profile(&self, id: UserId, event: AuditEvent) -> StoreResult<bool>;
}
