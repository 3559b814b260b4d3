//! Accounts: creation and lookup.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::Take;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::profile::NewProfile;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::{AppMetadata, User};

use crate::email_codes::NewEmailCode;
use crate::error::StoreResult;
use crate::limits::LimitedResult;
use crate::outbox::NewMail;

/// An account about to be created.
#[derive(Debug, Clone)]
pub struct NewAccount {
    /// Id of the user.
    pub id: UserId,
    /// Email address.
    pub email: Email,
    /// Password hash; an account can be without one.
    pub password: Option<PasswordHash>,
    /// True if the address counts as verified; the password then counts as proven.
    pub email_verified: bool,
    /// Application metadata.
    pub metadata: AppMetadata,
    /// Profile; an account can be without one.
    pub profile: Option<NewProfile>,
    /// First session, if the account is signed in at once.
    pub session: Option<NewSession>,
    /// Time of creation.
    pub now: Timestamp,
    /// Audit event; the store fills in user and session.
    pub event: AuditEvent,
}

/// Outcome of creating an account.
#[derive(Debug, Clone, PartialEq)]
pub enum CreateOutcome {
    /// Created.
    Created(Box<User>),
    /// The address already has an account.
    EmailTaken,
}

/// State of an address at a sign-up. For an account it carries the password hash whose salt and parameters the
/// new password is hashed with, if there is one ([`latchkey_domain::sign_in::reusable_salt`]).
#[derive(Debug, Clone, PartialEq)]
pub enum BeginSignUp {
    /// No account.
    Free,
    /// A pending account.
    Pending(Option<PasswordHash>),
    /// An account that a sign-up never changes.
    Taken(Option<PasswordHash>),
}

/// A sign-up while verification is required. The store determines the state of the address and uses the parts
/// that apply.
#[derive(Debug, Clone)]
pub struct PendingSignUp {
    /// Account to create if the address is free. It becomes pending and has no session.
    pub account: NewAccount,
    /// Code or link mailed if the address is free or pending.
    pub email_code: NewEmailCode,
    /// Mail of kind `Verify` to a free or pending address, otherwise
    /// `SignUpAttempt` to the owner.
    pub mail: NewMail,
    /// Hash of the token in the browser's sign-up cookie. A pending account stores that of its last sign-up, or
    /// that it had none.
    pub browser: Option<TokenHash>,
}

/// Outcome of a sign-up while verification is required. All but `Rehash` get the same response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignUpOutcome {
    /// A new pending account; its code or link was mailed.
    Created,
    /// A pending account got a new code or link and lost the old ones; the password was the same.
    Renewed,
    /// Same as `Renewed` with another password: the account is contested from now on.
    Contested,
    /// The address has an account that is not pending: its owner gets a mail, nothing else changed. A banned
    /// account gets no mail.
    OwnerTold,
    /// Nothing changed: the given hash has another salt than the account's, because the password changed or the
    /// account was created concurrently, so one hash cannot be compared with both. Hash again with this salt and
    /// retry.
    Rehash(PasswordHash),
}

/// Accounts: creation and lookup.
#[async_trait]
pub trait Accounts {
    /// Takes from the rate limits (all or none) and returns the state of the address.
    async fn begin_sign_up(
        &self,
        email: &EmailKey,
        takes: &[Take],
        now: Timestamp,
    ) -> LimitedResult<BeginSignUp>;

    /// Creates an account atomically: user, password, profile, session, event.
    async fn create_account(&self, account: NewAccount) -> StoreResult<CreateOutcome>;

    /// Signs up while verification is required: account or renewed code, mail and event in one transaction. The
    /// password hash is stored as the account's last sign-up ([`crate::SignInCandidate::last_sign_up`]) for any
    /// account, until the account is no longer pending, changes its address, or gets a password whose hash is not
    /// comparable with it.
    ///
    /// Two hashes are comparable only if their PHC strings share parameters and salt
    /// ([`latchkey_domain::password::PasswordHash::is_comparable`]); equal strings mean the same password.
    async fn sign_up_pending(&self, sign_up: PendingSignUp) -> StoreResult<SignUpOutcome>;

    /// User by id.
    async fn find_user(&self, id: UserId) -> StoreResult<Option<User>>;

    /// User by address.
    async fn find_user_by_email(&self, email: &EmailKey) -> StoreResult<Option<User>>;

    /// Removes pending accounts whose last sign-up is older than `until`, with all that is theirs, and older
    /// sign-up hashes. A banned account stays, to preserve the ban. Removes at most
    /// [`crate::SIGN_UP_PURGE_BATCH`] of each per call; returns the number of removed rows, 0 if nothing is
    /// left.
    async fn purge_sign_ups(&self, until: Timestamp) -> StoreResult<u64>;
}
