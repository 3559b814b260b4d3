//! Contract for operations on users that only admins may call.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::Email;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::operator::{OperatorRefusal, Protection};
use latchkey_domain::password::PasswordHash;
use latchkey_domain::profile::Profile;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::{AppMetadata, User};
use latchkey_domain::user_list::{UserFilter, UserKey, UserOrder};

use crate::challenges::Restoral;
use crate::error::{GuardedResult, StoreResult};
use crate::outbox::NewMail;

/// Start of a page in the list of users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserPosition {
    /// Offset pagination: number of users to skip.
    Offset(u64),
    /// Keyset pagination: the page starts after this user, the last one of the previous page. No user is skipped or
    /// repeated while others are created or deleted.
    After(UserKey),
    /// Keyset pagination backwards: the page ends before this user, the first one of the next page.
    Before(UserKey),
}

/// Filter, order and page of a list of users.
#[derive(Debug, Clone)]
pub struct ListUsers {
    /// Users to list.
    pub filter: UserFilter,
    /// Order of the list.
    pub order: UserOrder,
    /// Start of the page.
    pub position: UserPosition,
    /// Maximum number of users on the page.
    pub limit: u32,
}

/// A page of the list of users. Page and total are read from one database snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct UserPage {
    /// Users of the page, in the order of the list.
    pub users: Vec<User>,
    /// Number of users that match the filter, over all pages.
    pub total: u64,
    /// True if the list goes on: after this page, or before it for [`UserPosition::Before`].
    pub has_more: bool,
}

/// Changes that an admin makes to a user. `None` leaves a property unchanged.
#[derive(Debug, Clone)]
pub struct UpdateUser {
    /// Id of the user to change.
    pub id: UserId,
    /// New email address; `None` leaves it unchanged. A different address invalidates outstanding codes and tokens, and
    /// is unverified unless `email_verified` is `Some(true)`. The address that the user has changes nothing, and its event
    /// is not recorded.
    pub email: Option<Email>,
    /// `true` marks the email address as verified, `false` as unverified; `None` leaves it as it is.
    pub email_verified: Option<bool>,
    /// `Some(true)` bans the user, ends all sessions of the user, and invalidates all codes and tokens; `Some(false)`
    /// lifts the ban; `None` leaves it unchanged. The state that the user has changes nothing, and its event is not
    /// recorded.
    pub banned: Option<bool>,
    /// Application metadata that replaces the previous object as a whole; `None` leaves it unchanged.
    pub metadata: Option<AppMetadata>,
    /// Audit event and mail to write if the account's owner scheduled its deletion, which is cancelled then;
    /// `None` leaves a scheduled deletion as it is.
    pub restore: Option<Restoral>,
    /// Audit events to record with the change. The store fills in the user id.
    pub events: Vec<AuditEvent>,
    /// Mail of kind `EmailChanged` to the previous address; `None` if security notifications are off.
    pub mail: Option<NewMail>,
    /// What is spared if the account is an operator's.
    pub protection: Protection,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Outcome of [`AdminUsers::update_user`].
#[derive(Debug, Clone, PartialEq)]
pub enum UpdateUserOutcome {
    /// The user after the change.
    Updated(Box<User>),
    /// No user has the id.
    NotFound,
    /// Another account has the new email address. Nothing changed.
    EmailTaken,
    /// The account is an operator's. Nothing changed.
    Refused(OperatorRefusal),
}

/// An act of an admin or operator on the account of a user.
#[derive(Debug, Clone)]
pub struct AccountAct {
    /// Id of the user.
    pub user_id: UserId,
    /// Audit event of the act. The store fills in the user id.
    pub event: AuditEvent,
    /// What is spared if the account is an operator's.
    pub protection: Protection,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// A password that an admin sets for a user.
#[derive(Debug, Clone)]
pub struct ReplacePassword {
    /// Account and event of kind `PasswordSet`.
    pub act: AccountAct,
    /// Hash of the password.
    pub password: PasswordHash,
    /// Mail of kind `PasswordReplaced`; `None` writes no mail.
    pub mail: Option<NewMail>,
}

/// Outcome of [`AdminUsers::clear_profile`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClearedProfile {
    /// The profile has no public text any more.
    Cleared,
    /// The user has no profile.
    NotFound,
}

/// Operations on users that only admins may call.
#[async_trait]
pub trait AdminUsers {
    /// Lists one page of the users that match a filter.
    async fn list_users(&self, list: &ListUsers) -> StoreResult<UserPage>;

    /// Applies all changes to a user in one transaction, or none.
    async fn update_user(&self, update: UpdateUser) -> StoreResult<UpdateUserOutcome>;

    /// Deletes users with everything that belongs to them except audit events. Unknown ids are skipped. For the user
    /// `ids[n]`, `events[n]` is recorded. Returns the number of deleted users. Deletes none if the protection of operators
    /// refuses one.
    async fn delete_users(
        &self,
        ids: &[UserId],
        events: Vec<AuditEvent>,
        protection: Protection,
    ) -> GuardedResult<u64>;

    /// Ends all sessions of a user. Returns the number of sessions that ended, or `None` for an unknown user.
    async fn end_all_sessions(&self, act: AccountAct) -> GuardedResult<Option<u64>>;

    /// Ends one session of a user. Returns `false` if the user has no such live session.
    async fn end_session(&self, act: AccountAct, id: SessionId) -> GuardedResult<bool>;

    /// Sets the password of a user, ends all sessions, and deletes outstanding codes and tokens. The password counts as
    /// known to come from the mailbox's owner if the address is verified. Returns `false` for an unknown user.
    async fn replace_password(&self, replace: ReplacePassword) -> GuardedResult<bool>;

    /// Finds the profile of a user, also of a banned or pending one.
    async fn find_profile_of_any(&self, id: UserId) -> StoreResult<Option<Profile>>;

    /// Removes name, username, bio, picture and custom fields from a user's profile.
    async fn clear_profile(&self, act: AccountAct) -> GuardedResult<ClearedProfile>;

    /// Deletes a user's profile. Returns `false` if the user has none.
    async fn delete_profile(&self, act: AccountAct) -> GuardedResult<bool>;
}
