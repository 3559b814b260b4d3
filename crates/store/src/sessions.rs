//! Contract for sessions: password sign-in with its limits of wrong passwords, refresh, sign-out and password
//! change.

use std::time::Duration;

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::client::Client;
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::limits::{FailurePolicy, LimitKey, Take};
use latchkey_domain::password::PasswordHash;
use latchkey_domain::profile::Profile;
use latchkey_domain::session::{Session, SessionName};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;

use crate::entry::{Entered, Entry};
use crate::error::{LimitedResult, StoreResult};
use crate::outbox::NewMail;

/// Limits of wrong passwords (guess limits) that apply to one password check. Failures are counted per
/// account and client network, and per account; unknown addresses are counted like accounts.
#[derive(Debug, Clone)]
pub struct SignInGuard {
    /// Key of the failure counter of this account and client network.
    pub pair: LimitKey,
    /// Threshold and delays of the failure counter in `pair`.
    pub pair_policy: FailurePolicy,
    /// Key of the failure counter of this account over all clients.
    pub account: LimitKey,
    /// Threshold and window of the failure counter in `account`. Once the threshold is reached within the window, only
    /// clients that signed in before may sign in.
    pub account_policy: FailurePolicy,
    /// Key under which this client network is stored as known to the account after a sign-in.
    pub known_client: LimitKey,
    /// Duration for which a client network stays known to the account after a sign-in.
    pub known_for: Duration,
}

/// Outcome of [`Sessions::begin_password_change`].
#[derive(Debug, Clone, PartialEq)]
pub enum BeginPasswordChange {
    /// The session has ended, or its user is banned. No tokens were taken from the rate limits.
    NoSession,
    /// The account has this address, not the given one. No tokens were taken from the rate limits; the caller tries
    /// again with the limits of this address.
    OtherEmail(Email),
    /// The account of the session, whose current password is to be compared.
    Candidate(Box<SignInCandidate>),
}

/// An account with the hashes that a password is compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct SignInCandidate {
    /// User of the account.
    pub user: User,
    /// Hash of the account's password; `None` for an account without one.
    pub password: Option<PasswordHash>,
    /// Hash of the password of the last sign-up with this address while verification was required, if one is stored. It
    /// has the same parameters and salt as `password`, so that one hash operation serves both comparisons.
    pub last_sign_up: Option<PasswordHash>,
}

/// Result of the search for an account with an email address, by [`Sessions::begin_sign_in`].
#[derive(Debug, Clone, PartialEq)]
pub enum SignInSubject {
    /// An account, whose hashes the password is compared with.
    Account(Box<SignInCandidate>),
    /// The address is reserved for the account that had it before ([`crate::UndoLinks`]). Contains the hash
    /// of the password of the last sign-up with the address, if one is stored.
    Reserved(Option<PasswordHash>),
    /// No account has the address.
    Unknown,
}

/// User id and profile of the owner of a live session.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnProfile {
    /// Id of the session's user.
    pub user_id: UserId,
    /// Profile of the user; `None` if the user has none.
    pub profile: Option<Box<Profile>>,
}

/// A sign-in whose password matched, before its session is opened.
#[derive(Debug, Clone)]
pub struct SignIn {
    /// Id of the user who signs in.
    pub user_id: UserId,
    /// Hash that the password matched. If the account has another hash by now, no session is opened.
    pub checked: PasswordHash,
    /// Hash of the same password with current parameters, to replace `checked`; `None` if `checked` already has them.
    pub rehashed: Option<PasswordHash>,
    /// Session to open, or challenge to write instead.
    pub entry: Entry,
    /// Limits of wrong passwords; `None` if rate limits are off. They are checked again, so that concurrent
    /// guesses cannot exceed them.
    pub guard: Option<SignInGuard>,
    /// Audit event of the sign-in. The store fills in user id and session id.
    pub event: AuditEvent,
}

/// Outcome of [`Sessions::sign_in`].
#[derive(Debug, Clone, PartialEq)]
pub enum SignInOutcome {
    /// A session was opened, or a challenge was written. If a session was opened, the failure counter of account and
    /// client was cleared, and the client is known to the account from now on.
    Entered(Entered),
    /// The account was deleted or banned, or its password changed, since the password was compared. Nothing changed.
    Gone,
}

/// Outcome of [`Sessions::change_password`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PasswordChange {
    /// The password was changed. The failure counter of account and client is cleared.
    Changed,
    /// The account was deleted or banned, or its password changed, since the password was compared. Nothing changed.
    Gone,
}

/// A failed sign-in: the password was wrong, or no account has the address.
#[derive(Debug, Clone)]
pub struct FailedSignIn {
    /// Limits of wrong passwords whose counters are incremented; `None` if rate limits are off.
    pub guard: Option<SignInGuard>,
    /// Audit event of the failure, with the user id if an account has the address.
    pub event: AuditEvent,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// A session that has neither ended nor expired, with its user.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveSession {
    /// Row of the session.
    pub session: Session,
    /// User of the session, never a banned one.
    pub user: User,
}

/// A refresh token as a client presents it.
#[derive(Debug, Clone, Copy)]
pub struct PresentedRefreshToken {
    /// Hash of the first half of the token, the family, which is the same in all refresh tokens of a session.
    /// The session is found by it.
    pub family: TokenHash,
    /// Hash of the whole token.
    pub hash: TokenHash,
    /// Grace period: time for which a replaced token still yields its successor.
    pub grace: Duration,
}

/// A refresh token presented for rotation, with the successor that the client gets.
#[derive(Debug, Clone)]
pub struct RefreshSession {
    /// Token that the client presents.
    pub presented: PresentedRefreshToken,
    /// Hash of the new successor token.
    pub successor: TokenHash,
    /// New successor token, sealed under a key derived from the presented token.
    pub sealed_successor: Vec<u8>,
    /// New idle expiry of the session, if the token is rotated.
    pub idle_expires_at: Timestamp,
    /// Client that presents the token.
    pub client: Client,
    /// Audit event recorded if token reuse ends the session. The store fills in user id and session id.
    pub reuse_event: AuditEvent,
    /// Mail of kind `SessionEndedForSafety` to the owner on token reuse; `None` if security notifications are off.
    pub mail: Option<NewMail>,
    /// Audit event to record if the operator requires two-step sign-in and the session has level 1 (one
    /// factor), which ends the session. The store fills in user id and session id. `None` if level 1 is
    /// enough.
    pub level_two_required: Option<AuditEvent>,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Outcome of a refresh, determined by [`latchkey_domain::refresh::RefreshState::judge`].
#[derive(Debug, Clone, PartialEq)]
pub enum RefreshOutcome {
    /// The presented token was replaced by the new successor. If an earlier successor of it existed, that one was
    /// unused and is no longer valid.
    Rotated(Box<LiveSession>),
    /// The token was replaced within the grace period, and its successor is unused. The stored successor is
    /// returned again. Nothing changed.
    SameSuccessor {
        /// Stored successor token, sealed under a key derived from the presented token.
        sealed: Vec<u8>,
        /// The session with its user.
        live: Box<LiveSession>,
    },
    /// The token is unknown, its session has ended, or its user is banned; or the token was replaced within
    /// the grace period, and its successor was used already. Nothing changed.
    Refused,
    /// Token reuse was detected ([`latchkey_domain::refresh::RefreshVerdict::Revoke`]). The session was
    /// ended; this is committed before the outcome is returned.
    Revoked,
    /// The token is good, but the session has level 1 (one factor) while the operator requires two-step
    /// sign-in. The session was ended; this is committed before the outcome is returned.
    LevelTooLow,
}

/// Selection of the sessions to end.
#[derive(Debug, Clone, Copy)]
pub enum EndedSession {
    /// One session, if it belongs to the given user.
    Own(UserId, SessionId),
    /// The session of a refresh token, if a refresh with the token would succeed.
    OfRefreshToken(PresentedRefreshToken),
    /// All sessions of the user except the given one.
    OthersOf(UserId, SessionId),
    /// A page session of the user, and the app sessions that were opened from it.
    WithOpenedFrom(UserId, SessionId),
}

/// A password change by the owner of the account.
#[derive(Debug, Clone)]
pub struct ChangePassword {
    /// Id of the user.
    pub user_id: UserId,
    /// Hash that the current password matched. If the account has another hash by now, nothing changes.
    pub checked: PasswordHash,
    /// Hash of the new password.
    pub password: PasswordHash,
    /// Id of the session that makes the change. It is the only one that stays open.
    pub keep: SessionId,
    /// Hash of the new token of that session, if it is a page session; `None` for an app session.
    pub page_token: Option<TokenHash>,
    /// Limits of wrong passwords, checked again; `None` if rate limits are off. Success clears the failure
    /// counter of this account and client network.
    pub guard: Option<SignInGuard>,
    /// Audit event of the change.
    pub event: AuditEvent,
    /// Mail of kind `PasswordChanged` to the owner; `None` if security notifications are off.
    pub mail: Option<NewMail>,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// A first password, set by the owner of an account without one.
#[derive(Debug, Clone)]
pub struct SetPassword {
    /// Id of the user.
    pub user_id: UserId,
    /// Hash of the password.
    pub password: PasswordHash,
    /// Id of the session that sets the password. It is the only one that stays open.
    pub keep: SessionId,
    /// Hash of the new token of that session, if it is a page session; `None` for an app session.
    pub page_token: Option<TokenHash>,
    /// Audit event of kind `PasswordSet`.
    pub event: AuditEvent,
    /// Mail of kind `PasswordSet` to the owner; `None` writes no mail.
    pub mail: Option<NewMail>,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Outcome of [`Sessions::set_password`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordSet {
    /// The password was set.
    Set,
    /// The account has a password. Nothing changed.
    HasPassword,
    /// The session is not live, or belongs to another user. Nothing changed.
    NoSession,
}

/// Sessions and password sign-in.
///
/// **Limits of wrong passwords.** A sign-in is refused while the failures of account and client network block
/// it ([`latchkey_domain::limits::Failures::blocked`], limit `password sign-in, per account and address`). It
/// is also refused for unknown clients while the account's failures within the window reach the threshold
/// (limit `password sign-in, per account over all addresses`); the wait is then the rest of the window.
#[async_trait]
pub trait Sessions {
    /// Takes one token from each rate limit, or none if one is used up. Checks the limits of wrong passwords
    /// and finds the account.
    async fn begin_sign_in(
        &self,
        email: &EmailKey,
        takes: &[Take],
        guard: Option<&SignInGuard>,
        now: Timestamp,
    ) -> LimitedResult<SignInSubject>;

    /// Same as [`Self::begin_sign_in`] for the owner of a live session. `takes` and `guard` are made for the address
    /// `email`, which must still be the account's.
    async fn begin_password_change(
        &self,
        session: SessionId,
        email: &EmailKey,
        takes: &[Take],
        guard: Option<&SignInGuard>,
        now: Timestamp,
    ) -> LimitedResult<BeginPasswordChange>;

    /// Opens a session after the password matched. A pending account stops being pending.
    async fn sign_in(&self, sign_in: SignIn) -> LimitedResult<SignInOutcome>;

    /// Counts a failed sign-in and records its event. If the failures had reached a limit already, the
    /// outcome is that limit.
    async fn fail_sign_in(&self, failed: FailedSignIn) -> LimitedResult<()>;

    /// Finds a session that is live at `now`, with its user.
    async fn find_live_session(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<LiveSession>>;

    /// Finds the user id of a session that is live at `now`. This is the cheapest session check.
    async fn find_session_owner(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<UserId>>;

    /// Finds user id and profile of a session that is live at `now`, in one read, for the most frequent request.
    async fn find_session_profile(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<OwnProfile>>;

    /// True if a refresh with the token would return a successor: a new one, or the stored one again. Changes nothing.
    async fn is_refresh_token_good(
        &self,
        presented: PresentedRefreshToken,
        now: Timestamp,
    ) -> StoreResult<bool>;

    /// Decides on a refresh token and applies the decision. All concurrent callers with the same token get the same
    /// successor. If the stored successor was deleted within the grace period, a new one replaces it.
    async fn refresh_session(&self, refresh: RefreshSession) -> StoreResult<RefreshOutcome>;

    /// Lists the live sessions of a user, newest first, at most 1,000.
    async fn list_sessions(&self, user_id: UserId, now: Timestamp) -> StoreResult<Vec<Session>>;

    /// Sets the name of a live session of the user, or removes it with `None`. Returns the session; `None` if the user
    /// has no live session with this id.
    async fn rename_session(
        &self,
        user_id: UserId,
        id: SessionId,
        name: Option<SessionName>,
        now: Timestamp,
    ) -> StoreResult<Option<Session>>;

    /// Ends sessions and returns the number of live sessions that ended. If it is not 0, one audit event is recorded.
    async fn end_sessions(&self, which: EndedSession, event: AuditEvent, now: Timestamp) -> StoreResult<u64>;

    /// Changes a password, ends the account's other sessions and deletes its outstanding codes and tokens.
    async fn change_password(&self, change: ChangePassword) -> LimitedResult<PasswordChange>;

    /// Sets the first password of an account, ends the account's other sessions and deletes its outstanding codes and
    /// tokens. The password counts as known to come from the mailbox's owner if the account's address is verified. Of
    /// concurrent callers only one succeeds.
    async fn set_password(&self, set: SetPassword) -> StoreResult<PasswordSet>;
}
