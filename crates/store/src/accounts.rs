//! Accounts: making them, finding them.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::{Limited, Take};
use latchkey_domain::password::PasswordHash;
use latchkey_domain::profile::NewProfile;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::{AppMetadata, User};

use crate::challenges::NewChallenge;
use crate::error::StoreResult;
use crate::outbox::NewMail;

/// An account that is about to be made.
#[derive(Debug, Clone)]
pub struct NewAccount {
    /// Its id.
    pub id: UserId,
    /// Its address.
    pub email: Email,
    /// Its password; an account can be without one.
    pub password: Option<PasswordHash>,
    /// Whether the address counts as proven; the password then does too.
    pub email_verified: bool,
    /// Application data.
    pub metadata: AppMetadata,
    /// Its profile; an account can be without one.
    pub profile: Option<NewProfile>,
    /// Its first session, where it is signed in at once.
    pub session: Option<NewSession>,
    /// When it is made.
    pub now: Timestamp,
    /// What the audit says of it; the store fills in user and session.
    pub event: AuditEvent,
}

/// What came of making an account.
#[derive(Debug, Clone, PartialEq)]
pub enum CreateOutcome {
    /// It is there.
    Created(Box<User>),
    /// The address has an account.
    EmailTaken,
}

/// What stands at an address when somebody signs up with it. With an account comes the hash like which the new password
/// is to be hashed, if there is one ([`latchkey_domain::sign_in::like_own`]).
#[derive(Debug, Clone, PartialEq)]
pub enum BeginSignUp {
    /// A limit is used up; nothing was taken from any bucket.
    Limited(Limited),
    /// No account.
    Free,
    /// A pending account.
    Pending(Option<PasswordHash>),
    /// An account that a sign-up never changes.
    Taken(Option<PasswordHash>),
}

/// A sign-up while verification is required. The store finds out which case it is and picks what belongs to it.
#[derive(Debug, Clone)]
pub struct PendingSignUp {
    /// The account, where the address is free. It becomes pending; it has no session.
    pub account: NewAccount,
    /// The proof that is mailed where the address is free or pending.
    pub challenge: NewChallenge,
    /// The mail: of kind [`crate::MailKind::Verify`] to a free or pending address, else
    /// [`crate::MailKind::SignUpAttempt`] to the owner.
    pub mail: NewMail,
    /// The token of the browser's sign-up cookie. A pending account remembers that of its last sign-up, or that it had
    /// none.
    pub browser: Option<TokenHash>,
}

/// What came of a sign-up while verification is required. All but `Rehash` are answered alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignUpOutcome {
    /// A new pending account; its challenge was mailed.
    Created,
    /// A pending account got a new challenge, the old ones died; the password was the same.
    Renewed,
    /// The same with another password: the account is contested from now on.
    Contested,
    /// The address has an account that is not pending: its owner gets a mail, nothing else changed. A banned
    /// account gets no mail.
    OwnerTold,
    /// The account's password changed meanwhile, or the account is new, and the given hash has another salt than the
    /// account's, so that one hash cannot answer for both: hash again like this one and call again. Nothing changed.
    Rehash(PasswordHash),
}

/// Accounts: making them, finding them.
#[async_trait]
pub trait Accounts {
    /// Takes the tokens (all or none) and says what stands at the address.
    async fn begin_sign_up(
        &self,
        email: &EmailKey,
        takes: &[Take],
        now: Timestamp,
    ) -> StoreResult<BeginSignUp>;

    /// Makes an account with all that belongs to it: user, password, profile, session, event.
    async fn create_account(&self, account: NewAccount) -> StoreResult<CreateOutcome>;

    /// A sign-up while verification is required: account or renewed challenge, mail and event in one go. The hash of
    /// its password is kept as the account's last sign-up ([`crate::SignInCandidate::last_sign_up`]), whatever account
    /// that is, until the account is pending no more, has another address, or gets a password whose hash cannot be
    /// compared with it.
    /// Two hashes are compared only where their PHC strings share parameters and salt
    /// ([`latchkey_domain::password::PasswordHash::is_comparable`]); equal strings mean the same password.
    async fn sign_up_pending(&self, sign_up: PendingSignUp) -> StoreResult<SignUpOutcome>;

    /// A user by id.
    async fn find_user(&self, id: UserId) -> StoreResult<Option<User>>;

    /// A user by address.
    async fn find_user_by_email(&self, email: &EmailKey) -> StoreResult<Option<User>>;

    /// Removes pending accounts that nobody signed up for after `until`, with all that is theirs, and the hashes of
    /// sign-ups of before. A banned account stays, so that its ban does. At most [`crate::SIGN_UPS_PURGED_AT_ONCE`] of each
    /// at a call; answers how many went, 0 when nothing is left.
    async fn purge_sign_ups(&self, until: Timestamp) -> StoreResult<u64>;
}
