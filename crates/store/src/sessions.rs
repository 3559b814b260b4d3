//! Sessions: sign-in and its guess limits, refresh, end.

use std::time::Duration;

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::client::Client;
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::limits::{FailurePolicy, LimitKey, Take};
use latchkey_domain::password::PasswordHash;
use latchkey_domain::profile::Profile;
use latchkey_domain::session::{NewSession, Session};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;

use crate::error::StoreResult;
use crate::limits::LimitedResult;
use crate::outbox::NewMail;

/// Guess limits of one password check, kept per account address and client address, even if the account does not
/// exist.
#[derive(Debug, Clone)]
pub struct SignInGuard {
    /// Failure counter of this account and client.
    pub pair: LimitKey,
    /// Policy of the pair's counter.
    pub pair_policy: FailurePolicy,
    /// Failure counter of this account over all clients.
    pub account: LimitKey,
    /// Policy of the account's counter: once `threshold` is reached within `window`, only known clients may sign
    /// in.
    pub account_policy: FailurePolicy,
    /// Key of this account and client among the clients that have signed in.
    pub known_client: LimitKey,
    /// Time for which a client stays known after a sign-in.
    pub known_for: Duration,
}

/// Outcome of looking up an account for a password change.
#[derive(Debug, Clone, PartialEq)]
pub enum BeginPasswordChange {
    /// The session does not live. Nothing was taken.
    NoSession,
    /// The account's address is this one, and not what the limits were made for. Nothing was taken.
    OtherEmail(Email),
    /// The account of the session.
    Candidate(Box<SignInCandidate>),
}

/// An account whose password is about to be checked.
#[derive(Debug, Clone, PartialEq)]
pub struct SignInCandidate {
    /// The account.
    pub user: User,
    /// Password hash; an account can be without one.
    pub password: Option<PasswordHash>,
    /// Password hash of the last sign-up for this address while verification was required. A new password is
    /// hashed with its parameters and salt, so that one hash is compared with both.
    pub last_sign_up: Option<PasswordHash>,
}

/// Owner of a live session.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnProfile {
    /// Id of the user.
    pub user_id: UserId,
    /// Profile of the user; a user can be without one.
    pub profile: Option<Box<Profile>>,
}

/// A sign-in whose password was correct.
#[derive(Debug, Clone)]
pub struct SignIn {
    /// Id of the user.
    pub user_id: UserId,
    /// Hash that was checked; if the account has another one by now, no session is opened.
    pub checked: PasswordHash,
    /// The same password hashed with current parameters, if the stored hash has others.
    pub rehashed: Option<PasswordHash>,
    /// Session to open.
    pub session: NewSession,
    /// Guess limits, `None` if they are off. They are checked again, so that concurrent guesses gain nothing.
    pub guard: Option<SignInGuard>,
    /// Audit event; the store fills in user and session.
    pub event: AuditEvent,
}

/// Outcome of a sign-in with the correct password.
#[derive(Debug, Clone, PartialEq)]
pub enum SignInOutcome {
    /// The session is open, the failures of the pair are forgotten, the client is known.
    Opened(Box<User>),
    /// Meanwhile the account was deleted or banned, or its password changed.
    Gone,
}

/// A sign-in with a wrong password, or without an account to check.
#[derive(Debug, Clone)]
pub struct FailedSignIn {
    /// Guess limits, `None` if they are off.
    pub guard: Option<SignInGuard>,
    /// Audit event; names the user if there is one.
    pub event: AuditEvent,
    /// Time of the request.
    pub now: Timestamp,
}

/// A live session with its user.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveSession {
    /// The session.
    pub session: Session,
    /// The user, who is not banned.
    pub user: User,
}

/// A refresh token presented for rotation.
#[derive(Debug, Clone)]
pub struct RefreshSession {
    /// Hash of the token's family half; it finds the session.
    pub family: TokenHash,
    /// Hash of the token.
    pub presented: TokenHash,
    /// Hash of the successor.
    pub successor: TokenHash,
    /// Successor token, sealed under a key derived from the presented token.
    pub sealed_successor: Vec<u8>,
    /// Grace period in which a replaced token yields the same successor.
    pub grace: Duration,
    /// New idle expiry of the session.
    pub idle_expires_at: Timestamp,
    /// Client that presents the token.
    pub client: Client,
    /// Audit event of a replay that ends the session; the store fills in user and session.
    pub reuse_event: AuditEvent,
    /// Mail of kind `SessionEndedForSafety` to the owner, if security notifications are on.
    pub mail: Option<NewMail>,
    /// Time of the request.
    pub now: Timestamp,
}

/// Outcome of a refresh, by [`latchkey_domain::refresh::RefreshState::judge`].
#[derive(Debug, Clone, PartialEq)]
pub enum RefreshOutcome {
    /// The offered successor replaced the token, for the first time or again.
    Rotated(Box<LiveSession>),
    /// The token was replaced before; its sealed successor is returned again. Nothing changed.
    SameSuccessor {
        /// Successor token, sealed under a key derived from the presented token.
        sealed: Vec<u8>,
        /// The session.
        live: Box<LiveSession>,
    },
    /// Unknown token, ended session, banned user, or a concurrent duplicate within the grace period.
    Refused,
    /// Replay after the grace period, or of a token that was replaced unused. The session's end is durable before
    /// this returns.
    Revoked,
}

/// Selects the sessions to end.
#[derive(Debug, Clone, Copy)]
pub enum EndedSession {
    /// This session of this user.
    Own(UserId, SessionId),
    /// The session of this refresh token's family, if the token would get a successor.
    OfRefreshToken {
        /// Hash of the family half.
        family: TokenHash,
        /// Hash of the token.
        presented: TokenHash,
        /// Grace period.
        grace: Duration,
    },
    /// All sessions of this user but this one.
    OthersOf(UserId, SessionId),
}

/// A password change by the owner.
#[derive(Debug, Clone)]
pub struct ChangePassword {
    /// Id of the user.
    pub user_id: UserId,
    /// Hash that was checked; if the account has another one by now, nothing changes.
    pub checked: PasswordHash,
    /// New password.
    pub password: PasswordHash,
    /// Session that stays open.
    pub keep: SessionId,
    /// Guess limits: checked again, then the pair's counter is cleared.
    pub guard: Option<SignInGuard>,
    /// Audit event.
    pub event: AuditEvent,
    /// Mail of kind `PasswordChanged` to the owner, if security notifications are on.
    pub mail: Option<NewMail>,
    /// Time of the request.
    pub now: Timestamp,
}

/// Sessions.
///
/// **Guess limits.** A sign-in is limited if the pair's failures block
/// ([`latchkey_domain::limits::Failures::blocked`], limit `password sign-in, per account and address`), or if the
/// account's failures in its window reach its threshold and the client is not known (limit `password sign-in, per
/// account over all addresses`; wait: the rest of the window).
#[async_trait]
pub trait Sessions {
    /// Takes from the rate limits (all or none), checks the guess limits, and finds the account.
    async fn begin_sign_in(
        &self,
        email: &EmailKey,
        takes: &[Take],
        guard: Option<&SignInGuard>,
        now: Timestamp,
    ) -> LimitedResult<Option<Box<SignInCandidate>>>;

    /// Same as [`Self::begin_sign_in`] for the owner of a live session, whose account is expected to have this
    /// address.
    async fn begin_password_change(
        &self,
        session: SessionId,
        email: &EmailKey,
        takes: &[Take],
        guard: Option<&SignInGuard>,
        now: Timestamp,
    ) -> LimitedResult<BeginPasswordChange>;

    /// Opens a session after a correct password. A pending account becomes a normal one.
    async fn sign_in(&self, sign_in: SignIn) -> LimitedResult<SignInOutcome>;

    /// Counts a failure. Returns the limit if it was used up before this failure.
    async fn fail_sign_in(&self, failed: FailedSignIn) -> LimitedResult<()>;

    /// Session that is live at `now`, with its user.
    async fn find_live_session(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<LiveSession>>;

    /// User id of a session that is live at `now`: the cheapest session check.
    async fn find_session_owner(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<UserId>>;

    /// User id and profile of a session that is live at `now`, in one read: the most frequent request of all.
    async fn find_session_profile(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<OwnProfile>>;

    /// Checks whether a refresh token's family has a live session in which the token would get a successor, new
    /// or repeated.
    async fn is_refresh_token_good(
        &self,
        family: TokenHash,
        presented: TokenHash,
        grace: Duration,
        now: Timestamp,
    ) -> StoreResult<bool>;

    /// Judges a refresh token and applies the verdict. Concurrent callers with one token all get the same
    /// successor. A sealed successor that was deleted within the grace period is replaced by a new one.
    async fn refresh_session(&self, refresh: RefreshSession) -> StoreResult<RefreshOutcome>;

    /// Live sessions of a user, newest first, at most 1,000.
    async fn list_sessions(&self, user_id: UserId, now: Timestamp) -> StoreResult<Vec<Session>>;

    /// Ends sessions and returns the number of live ones that ended. Each call that ended any writes one event.
    async fn end_sessions(&self, which: EndedSession, event: AuditEvent, now: Timestamp) -> StoreResult<u64>;

    /// Changes a password, ends the other sessions, and deletes every outstanding code and token of the account.
    /// [`SignInOutcome::Opened`] means changed.
    async fn change_password(&self, change: ChangePassword) -> LimitedResult<SignInOutcome>;
}
