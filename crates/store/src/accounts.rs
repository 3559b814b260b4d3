//! Contract for accounts: sign-up, creation, lookup, and removal of pending accounts (signed up, never
//! verified, without a session) that nobody completed.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::Take;
use latchkey_domain::locale::Locale;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::profile::NewProfile;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::{AppMetadata, User};

use crate::email_codes::NewEmailCode;
use crate::entry::{Entered, Entry};
use crate::error::{LimitedResult, StoreResult};
use crate::outbox::NewMail;

/// An account to be created, with its optional profile and first session.
#[derive(Debug, Clone)]
pub struct NewAccount {
    /// Id of the new user.
    pub id: UserId,
    /// Email address, unique among all accounts.
    pub email: Email,
    /// Password hash; `None` for an account that signs in by other means.
    pub password: Option<PasswordHash>,
    /// True if the address counts as verified. The password, if any, then counts as known to come from the mailbox's
    /// owner.
    pub email_verified: bool,
    /// Application metadata, which only admins write.
    pub metadata: AppMetadata,
    /// Profile to create with the account; `None` creates none.
    pub profile: Option<NewProfile>,
    /// Language of the account's mails; `None` uses the language of the request that causes a mail.
    pub locale: Option<Locale>,
    /// Hash of the token in the cookie of the browser that signed up; `None` without a cookie. A pending account has the
    /// hash of its latest sign-up.
    pub browser: Option<TokenHash>,
    /// Creation time of the account and its profile.
    pub now: Timestamp,
    /// Audit event of the creation. The store fills in user id and session id.
    pub event: AuditEvent,
}

/// Outcome of [`Accounts::create_account`].
#[derive(Debug, Clone, PartialEq)]
pub enum CreateOutcome {
    /// The account was created.
    Created(Box<User>),
    /// Another account has the address, or the address is reserved for its former owner
    /// ([`crate::UndoLinks`]). Nothing changed.
    EmailTaken,
}

/// State of an email address before a sign-up. If the state contains a password hash, the new password must
/// be hashed with the same salt and parameters ([`latchkey_domain::sign_in::reusable_salt`]).
#[derive(Debug, Clone, PartialEq)]
pub enum BeginSignUp {
    /// No account has the address.
    Free,
    /// A pending account has the address: it was signed up, never verified, and never had a session. A
    /// further sign-up renews its code or link. Contains the hash whose salt to reuse.
    Pending(Option<PasswordHash>),
    /// The address is not free, and a sign-up changes nothing: its account is not pending or is banned, or
    /// the address is reserved for its former owner ([`crate::UndoLinks`]). Contains the hash whose salt to
    /// reuse.
    Taken(Option<PasswordHash>),
}

/// A sign-up while email verification is required. The state of the address decides which of these data the store
/// writes.
#[derive(Debug, Clone)]
pub struct PendingSignUp {
    /// Account to create if no account has the address. It becomes pending and gets no session.
    pub account: NewAccount,
    /// Email code or link to mail if no account or a pending account has the address.
    pub email_code: NewEmailCode,
    /// Mail of kind `Verify` to a free address or a pending account; for any other account, a mail of kind
    /// `SignUpAttempt` to its owner.
    pub mail: NewMail,
}

/// Outcome of a sign-up while verification is required. Clients get the same response for all but `Rehash`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignUpOutcome {
    /// A new pending account was created; its code or link was mailed.
    Created,
    /// The address has a pending account with the same password. A new code or link replaced the previous ones.
    Renewed,
    /// The address has a pending account with another password. A new code or link replaced the previous
    /// ones. The account is marked as contested: none of its passwords is known to be the mailbox owner's, so
    /// verification removes them.
    Contested,
    /// The address is reserved, or its account is not pending. Nothing changed. The owner of such an account gets a
    /// mail, unless banned; for a reserved address no mail is sent.
    OwnerTold,
    /// The given hash has another salt than the account's stored hash, because a concurrent request changed it.
    /// Nothing changed. The caller hashes the password again with the salt and parameters of this hash, and retries.
    Rehash(PasswordHash),
}

/// Accounts: sign-up, creation, lookup, and removal of pending accounts that nobody completed.
#[async_trait]
pub trait Accounts {
    /// Takes one token from each rate limit, or none if one is used up, and returns the state of the address.
    async fn begin_sign_up(
        &self,
        email: &EmailKey,
        takes: &[Take],
        now: Timestamp,
    ) -> LimitedResult<BeginSignUp>;

    /// Creates an account, with its profile, session and audit event, in one transaction.
    async fn create_account(&self, account: NewAccount) -> StoreResult<CreateOutcome>;

    /// Creates an account and signs it in, in one transaction; `None` if another account has the address.
    async fn create_account_and_enter(
        &self,
        account: NewAccount,
        entry: Entry,
    ) -> StoreResult<Option<Entered>>;

    /// Signs up while email verification is required. Account or renewed code, mail and audit event are written in one
    /// transaction. Whether the account is pending or not, the password hash is stored as the hash of the account's
    /// last sign-up ([`crate::SignInCandidate::last_sign_up`]). The stored hash is deleted when the account stops being
    /// pending, changes its address, or gets a password whose hash is not comparable with the stored hash.
    ///
    /// Two hashes are comparable if their PHC strings have the same parameters and salt
    /// ([`latchkey_domain::password::PasswordHash::is_comparable`]). Equal strings then mean equal passwords.
    async fn sign_up_pending(&self, sign_up: PendingSignUp) -> StoreResult<SignUpOutcome>;

    /// Sets the language of the account's mails.
    async fn set_locale(&self, id: UserId, locale: &Locale) -> StoreResult<()>;

    /// Finds a user by id.
    async fn find_user(&self, id: UserId) -> StoreResult<Option<User>>;

    /// Finds a user by the canonical form of the email address.
    async fn find_user_by_email(&self, email: &EmailKey) -> StoreResult<Option<User>>;

    /// Deletes pending accounts whose last sign-up is older than `until`, with everything that belongs to them. Deletes
    /// stored password hashes of sign-ups older than `until`, too. Banned accounts stay, to preserve the ban. Deletes
    /// at most [`crate::ACCOUNT_PURGE_BATCH`] of each per call and returns the number of deleted rows.
    async fn purge_sign_ups(&self, until: Timestamp) -> StoreResult<u64>;
}
