//! Sessions: sign-in with its guards, refresh, ending.

use std::time::Duration;

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::client::Client;
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::limits::{FailurePolicy, LimitKey, Limited, Take};
use latchkey_domain::password::PasswordHash;
use latchkey_domain::profile::Profile;
use latchkey_domain::session::{NewSession, Session};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;

use crate::error::StoreResult;
use crate::outbox::NewMail;

/// The guess limits of one password check. Kept by address of account and by address of client, whether or not
/// there is such an account.
#[derive(Debug, Clone)]
pub struct SignInGuard {
    /// Counts failures of this account from this client.
    pub pair: LimitKey,
    /// How those are counted.
    pub pair_policy: FailurePolicy,
    /// Counts failures of this account from everywhere.
    pub account: LimitKey,
    /// How those are counted: once `threshold` is reached in `window`, only clients that are known may go on.
    pub account_policy: FailurePolicy,
    /// Names this account and this client, for clients from which it signed in.
    pub known_client: LimitKey,
    /// How long such a client stays known.
    pub known_for: Duration,
}

/// What stands at an address when somebody signs in with it.
#[derive(Debug, Clone, PartialEq)]
pub enum BeginSignIn {
    /// A limit is used up; no password is looked at.
    Limited(Limited),
    /// The account, if there is one.
    Candidate(Option<Box<SignInCandidate>>),
}

/// What stands before the check of the current password, where its owner wants another.
#[derive(Debug, Clone, PartialEq)]
pub enum BeginPasswordChange {
    /// The session does not live. Nothing was taken.
    NoSession,
    /// The account's address is this one, and not what the limits were made for. Nothing was taken.
    OtherEmail(Email),
    /// A limit is used up; no password is looked at.
    Limited(Limited),
    /// The account of the session.
    Candidate(Box<SignInCandidate>),
}

/// An account whose password is to be checked.
#[derive(Debug, Clone, PartialEq)]
pub struct SignInCandidate {
    /// The account.
    pub user: User,
    /// Its password; an account can be without one.
    pub password: Option<PasswordHash>,
    /// The password of the last sign-up for its address while verification was required. A new password is hashed like
    /// it, so that one hash answers both.
    pub last_sign_up: Option<PasswordHash>,
}

/// The owner of a living session.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnProfile {
    /// The user.
    pub user_id: UserId,
    /// The user's profile; a user can be without one.
    pub profile: Option<Box<Profile>>,
}

/// A password was right: open the session.
#[derive(Debug, Clone)]
pub struct SignIn {
    /// Whose.
    pub user_id: UserId,
    /// The hash that was checked; where the account has another by now, nothing is opened.
    pub checked: PasswordHash,
    /// The same password under today's parameters, where the stored one has others.
    pub rehashed: Option<PasswordHash>,
    /// The session.
    pub session: NewSession,
    /// The guess limits, unless they are off. They are looked at once more, so that guesses in parallel gain nothing.
    pub guard: Option<SignInGuard>,
    /// What the audit says; the store fills in user and session.
    pub event: AuditEvent,
}

/// What came of a sign-in with the right password.
#[derive(Debug, Clone, PartialEq)]
pub enum SignInOutcome {
    /// The session is open, the failures of the pair are forgotten, the client is known.
    Opened(Box<User>),
    /// Meanwhile the guess limits were used up.
    Limited(Limited),
    /// Meanwhile the account was deleted or banned, or its password changed.
    Gone,
}

/// A password was wrong, or there was none to check.
#[derive(Debug, Clone)]
pub struct FailedSignIn {
    /// The guess limits, unless they are off.
    pub guard: Option<SignInGuard>,
    /// What the audit says; it names the user where there is one.
    pub event: AuditEvent,
    /// When.
    pub now: Timestamp,
}

/// A session that lives, and what a request needs to know of its user.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveSession {
    /// The session.
    pub session: Session,
    /// Its user, who is not banned.
    pub user: User,
}

/// A refresh token is presented.
#[derive(Debug, Clone)]
pub struct RefreshSession {
    /// Hash of its family half: finds the session.
    pub family: TokenHash,
    /// Its hash.
    pub presented: TokenHash,
    /// Hash of the token that replaces it.
    pub successor: TokenHash,
    /// That token, sealed under a key that only the presented token yields.
    pub sealed_successor: Vec<u8>,
    /// How long a replaced token is answered with the same successor.
    pub grace: Duration,
    /// When the session now ends without another refresh.
    pub idle_expires_at: Timestamp,
    /// Who presents it.
    pub client: Client,
    /// What the audit says if it is a replay that ends the session; the store fills in user and session.
    pub reuse_event: AuditEvent,
    /// The mail of kind [`crate::MailKind::SessionEndedForSafety`] to the owner, where such mails are wanted.
    pub mail: Option<NewMail>,
    /// When.
    pub now: Timestamp,
}

/// What came of presenting a refresh token, by [`latchkey_domain::refresh::RefreshState::judge`].
#[derive(Debug, Clone, PartialEq)]
pub enum RefreshOutcome {
    /// It was replaced by the offered successor, for the first time or once more.
    Rotated(Box<LiveSession>),
    /// It was replaced before: here is the successor of that time, sealed. Nothing changed.
    SameSuccessor {
        /// The successor, sealed under a key that the presented token yields.
        sealed: Vec<u8>,
        /// The session.
        live: Box<LiveSession>,
    },
    /// No such token, or the session is over, or the user is banned, or a late twin inside the grace.
    Refused,
    /// A replay after the grace, or of a token that gave way unused: the session was ended before this answers.
    Revoked,
}

/// Which session is to be ended.
#[derive(Debug, Clone, Copy)]
pub enum EndedSession {
    /// This one, of this user.
    Own(UserId, SessionId),
    /// The one that this refresh token's family finds, if the token would get a successor.
    OfRefreshToken {
        /// Hash of the family half.
        family: TokenHash,
        /// Hash of the token.
        presented: TokenHash,
        /// The grace window.
        grace: Duration,
    },
    /// All of this user but this one.
    OthersOf(UserId, SessionId),
}

/// A password change by its owner.
#[derive(Debug, Clone)]
pub struct ChangePassword {
    /// Whose.
    pub user_id: UserId,
    /// The hash that was checked; where the account has another by now, nothing is changed.
    pub checked: PasswordHash,
    /// The new one.
    pub password: PasswordHash,
    /// The session that stays.
    pub keep: SessionId,
    /// The guess limits, looked at once more and then forgotten for the pair.
    pub guard: Option<SignInGuard>,
    /// What the audit says.
    pub event: AuditEvent,
    /// The mail of kind [`crate::MailKind::PasswordChanged`] to the owner, where such mails are wanted.
    pub mail: Option<NewMail>,
    /// When.
    pub now: Timestamp,
}

/// Sessions.
///
/// **Guards.** A sign-in is limited where the pair's failures block ([`latchkey_domain::limits::Failures::blocked`],
/// limit `password sign-in, per account and address`), or where the account's failures in its window reach its
/// threshold and the client is not known (limit `password sign-in, per account over all addresses`; wait: the rest of the window).
#[async_trait]
pub trait Sessions {
    /// Takes the tokens (all or none), looks at the guards, finds the account.
    async fn begin_sign_in(
        &self,
        email: &EmailKey,
        takes: &[Take],
        guard: Option<&SignInGuard>,
        now: Timestamp,
    ) -> StoreResult<BeginSignIn>;

    /// The same for the owner of a living session, whose account is expected to have this address.
    async fn begin_password_change(
        &self,
        session: SessionId,
        email: &EmailKey,
        takes: &[Take],
        guard: Option<&SignInGuard>,
        now: Timestamp,
    ) -> StoreResult<BeginPasswordChange>;

    /// Opens a session after a right password. The account is pending no more.
    async fn sign_in(&self, sign_in: SignIn) -> StoreResult<SignInOutcome>;

    /// Counts a failure. Answers the limit, where it was used up already before this one.
    async fn fail_sign_in(&self, failed: FailedSignIn) -> StoreResult<Option<Limited>>;

    /// A session that lives at `now`, with its user.
    async fn find_live_session(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<LiveSession>>;

    /// Whose a session is that lives at `now`: the short form of the question for calls that need no more.
    async fn find_session_owner(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<UserId>>;

    /// Whose a session is that lives at `now`, and that user's profile: the question of the most frequent call of all,
    /// in one read.
    async fn find_session_profile(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<OwnProfile>>;

    /// Whether a refresh token's family finds a living session, and the token would get a successor there, a new one or
    /// the same again.
    async fn is_refresh_token_good(
        &self,
        family: TokenHash,
        presented: TokenHash,
        grace: Duration,
        now: Timestamp,
    ) -> StoreResult<bool>;

    /// Judges a refresh token and does what the verdict says. Of many racers with one token, all successes carry the
    /// same successor. A sealed successor that is gone within the grace is replaced.
    async fn refresh_session(&self, refresh: RefreshSession) -> StoreResult<RefreshOutcome>;

    /// The living sessions of a user, newest first, at most 1,000.
    async fn list_sessions(&self, user_id: UserId, now: Timestamp) -> StoreResult<Vec<Session>>;

    /// Ends sessions; answers how many ended (living ones only). An event is written for each call that ended some.
    async fn end_sessions(&self, which: EndedSession, event: AuditEvent, now: Timestamp) -> StoreResult<u64>;

    /// Changes a password: ends the other sessions, deletes every outstanding code and token of the account.
    /// [`SignInOutcome::Opened`] means changed.
    async fn change_password(&self, change: ChangePassword) -> StoreResult<SignInOutcome>;
}
