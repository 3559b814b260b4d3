//! Challenges: mailed codes and link tokens that prove a mailbox, and the reset tokens that follow them.
//!
//! Known and unknown addresses cost the same: a challenge for an address that may not have one is written all the
//! same, without a user and with a mail that is never sent.

use std::time::Duration;

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::codes::{CodeBudget, CodeForm, CodeMac, Purpose};
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::limits::{LimitKey, Limited, Take};
use latchkey_domain::password::PasswordHash;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;

use crate::error::StoreResult;
use crate::outbox::NewMail;

/// A challenge that is about to be mailed. There is one live link per address and purpose, or one live code per address,
/// purpose and lane: writing a code ends the lane's code before and the link, writing a link ends all.
#[derive(Debug, Clone)]
pub enum NewChallenge {
    /// A code.
    Code(NewCode),
    /// A link.
    Link {
        /// Its token and life.
        token: NewToken,
        /// Where the browser goes after it was opened; checked against the list already.
        redirect_to: Option<String>,
    },
}

/// A code that is about to be mailed: six digits, or sixteen characters where the lane of who asks has made its wrong
/// attempts of the day.
#[derive(Debug, Clone)]
pub struct NewCode {
    /// The MAC of the six digits; the mail carries them.
    pub mac: CodeMac,
    /// The MAC of the sixteen characters.
    pub long_mac: CodeMac,
    /// The sealed part of the mail that carries those.
    pub long_sealed: Vec<u8>,
    /// The lane of who asks, and what it bears.
    pub lane: CodeLane,
    /// When it stops being good.
    pub expires_at: Timestamp,
}

/// The facts that tell the lane of somebody, and how much it bears.
#[derive(Debug, Clone, Copy)]
pub struct CodeLane {
    /// Names the account and the client, as in [`crate::SignInGuard::known_client`].
    pub client: LimitKey,
    /// How often codes may be tried.
    pub budget: CodeBudget,
}

/// A token that is about to be given out.
#[derive(Debug, Clone, Copy)]
pub struct NewToken {
    /// What is kept of it.
    pub hash: TokenHash,
    /// When it stops being good.
    pub expires_at: Timestamp,
}

/// A request for a challenge: resend of a verification, or a password reset.
#[derive(Debug, Clone)]
pub struct RequestChallenge {
    /// For whom. Verification is only for an unverified account, neither is for a banned one.
    pub email: EmailKey,
    /// What for.
    pub purpose: Purpose,
    /// Limits to take from, all or none.
    pub takes: Vec<Take>,
    /// The challenge.
    pub challenge: NewChallenge,
    /// The mail: of kind [`crate::MailKind::Verify`] or [`crate::MailKind::Reset`]; never sent where the account may
    /// not have the challenge.
    pub mail: NewMail,
    /// When.
    pub now: Timestamp,
}

/// What came of a request for a challenge. It does not tell whether there is an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome {
    /// Written.
    Accepted,
    /// A limit is used up; nothing changed.
    Limited(Limited),
}

/// An attempt at a code.
#[derive(Debug, Clone)]
pub struct CodeAttempt {
    /// Whose code.
    pub email: EmailKey,
    /// The MAC of what was entered.
    pub mac: CodeMac,
    /// The form of what was entered. Long codes are tried without being counted.
    pub form: CodeForm,
    /// The lane of who entered it, and what it bears.
    pub lane: CodeLane,
    /// The session of the caller's bearer: one of the code's own account verifies from inside.
    pub caller: Option<SessionId>,
    /// Limits to take from first, all or none.
    pub takes: Vec<Take>,
    /// What the audit says when it opens; the store fills in user and session.
    pub event: AuditEvent,
    /// When.
    pub now: Timestamp,
}

/// A verification link's token that is used directly.
#[derive(Debug, Clone)]
pub struct TokenAttempt {
    /// The token.
    pub token: TokenHash,
    /// The address that the caller says it belongs to; `None` where the caller names none. With another one the token
    /// is refused, and stays good.
    pub email: Option<EmailKey>,
    /// The session of the caller's bearer: one of the token's own account verifies from inside.
    pub caller: Option<SessionId>,
    /// Limits to take from first, all or none.
    pub takes: Vec<Take>,
    /// What the audit says when it opens; the store fills in user and session.
    pub event: AuditEvent,
}

/// A verification link that is opened in a browser.
#[derive(Debug, Clone)]
pub struct OpenLink {
    /// Its token.
    pub token: TokenHash,
    /// The cookies of the browser.
    pub browser: Browser,
    /// Whether its owner agreed to what verifying removes.
    pub consent: Consent,
    /// Limits to take from first, all or none.
    pub takes: Vec<Take>,
    /// What the audit says when it verifies; the store fills in the user.
    pub event: AuditEvent,
    /// When.
    pub now: Timestamp,
}

/// The cookies by which a browser shows that it belongs to an account.
#[derive(Debug, Clone, Copy, Default)]
pub struct Browser {
    /// Its refresh token.
    pub refresh: Option<RefreshCookie>,
    /// The token of its sign-up cookie.
    pub sign_up: Option<TokenHash>,
}

/// A refresh token that is looked at and not used.
#[derive(Debug, Clone, Copy)]
pub struct RefreshCookie {
    /// The hash of its family.
    pub family: TokenHash,
    /// Its own hash.
    pub presented: TokenHash,
    /// The time for which a replaced one is good.
    pub grace: Duration,
}

/// Consent to what a verification removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Not asked for yet.
    Unasked,
    /// Given.
    Given,
}

/// What came of proving an address.
#[derive(Debug, Clone, PartialEq)]
pub enum VerifyOutcome {
    /// The address is proven and the session opened.
    Verified(Box<User>),
    /// Not so: unknown, wrong, expired, used, out of attempts.
    Refused,
    /// A limit is used up; the attempt was not counted.
    Limited(Limited),
}

/// What came of exchanging a reset code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeOutcome {
    /// The code is used up, the reset token is good.
    Exchanged,
    /// Not so: unknown, wrong, expired, used, out of attempts.
    Refused,
    /// A limit is used up; the attempt was not counted.
    Limited(Limited),
}

/// Whether a link is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkStatus {
    /// It is. A used verify link is good until it expires, as long as its address is still the account's.
    Good,
    /// It is too old.
    Expired,
    /// A newer one replaced it, or the account changed since.
    Superseded,
    /// Its reset was done.
    Used,
}

/// A link whose row is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkState {
    /// Whether it is good.
    pub status: LinkStatus,
    /// Where the browser goes.
    pub redirect_to: Option<String>,
}

/// What came of opening a verification link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenedLink {
    /// The row is known; where it is good, the address is verified now.
    Known(LinkState),
    /// It is good, and verifying would remove something of an account that the browser does not belong to
    /// ([`latchkey_domain::mailbox_proof::Standing::asks_before`]). Nothing changed but the limits.
    Asks {
        /// Where the browser would go.
        redirect_to: Option<String>,
    },
    /// No such link, or of an address without an account.
    Unknown,
    /// A limit is used up.
    Limited(Limited),
}

/// Whose password a reset token sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResetSubject {
    /// The user.
    pub user_id: UserId,
    /// The user's address, for the password rules.
    pub email: Email,
    /// [`crate::SignInCandidate::last_sign_up`] of the user.
    pub last_sign_up: Option<PasswordHash>,
}

/// What came of presenting a reset token, before the new password is hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeginReset {
    /// It is good now.
    Good(ResetSubject),
    /// It is not.
    Refused,
    /// A limit is used up.
    Limited(Limited),
}

/// A password reset.
#[derive(Debug, Clone)]
pub struct ResetPassword {
    /// The token: of a reset link, or of an exchange.
    pub token: TokenHash,
    /// The new password.
    pub password: PasswordHash,
    /// What the audit says; the store fills in the user.
    pub event: AuditEvent,
    /// The mail of kind [`crate::MailKind::PasswordWasReset`] to the owner, where such mails are wanted.
    pub mail: Option<NewMail>,
    /// When.
    pub now: Timestamp,
}

/// Challenges and what follows them.
///
/// **Proof of a mailbox.** Verification sets `email_verified`, ends `is_pending` and `is_contested`, and consumes the
/// live challenge. What else it does is decided by [`latchkey_domain::mailbox_proof::ProofEffects`].
#[async_trait]
pub trait Challenges {
    /// Writes a challenge and its mail.
    async fn request_challenge(&self, request: RequestChallenge) -> StoreResult<RequestOutcome>;

    /// Tries a verification code, of whichever lane; when it opens, the address is proven and `session` is opened. Judging
    /// the attempt, counting a wrong one and consuming the code are one; a refused attempt is kept before this answers, in
    /// the lane of who typed it, and costs the same where there is no code. A banned account is refused.
    async fn verify_by_code(&self, attempt: CodeAttempt, session: NewSession) -> StoreResult<VerifyOutcome>;

    /// Uses a verification link's token directly: only where this very call turns `email_verified` true is `session`
    /// opened; else it is refused.
    async fn verify_by_token(&self, attempt: TokenAttempt, session: NewSession)
    -> StoreResult<VerifyOutcome>;

    /// Opens a verification link in a browser: proves the address, signs nobody in.
    async fn open_verify_link(&self, link: OpenLink) -> StoreResult<OpenedLink>;

    /// Looks at a link of `purpose` and changes nothing (but the limits); `None` where it is unknown. Exchanged reset tokens are no
    /// links.
    async fn look_at_link(
        &self,
        token: TokenHash,
        purpose: Purpose,
        takes: &[Take],
        now: Timestamp,
    ) -> StoreResult<OpenedLink>;

    /// Exchanges a reset code for a reset token, which ends the account's other reset tokens.
    async fn exchange_reset_code(
        &self,
        attempt: CodeAttempt,
        token: NewToken,
    ) -> StoreResult<ExchangeOutcome>;

    /// Whether a reset token (of a link or of an exchange) is good, and for whom.
    async fn begin_reset(&self, token: TokenHash, takes: &[Take], now: Timestamp) -> StoreResult<BeginReset>;

    /// Sets the password and consumes the token: exactly one of many racers gets the user. Ends every session of the
    /// account and deletes its outstanding codes and tokens. The first proof of a mailbox on an account that was never
    /// verified, or whose password is unproven, also removes identities and the profile's public text. `email_verified`
    /// is true afterwards, and the password proven. Of another account those identities stay whose provider said of the
    /// account's own address that it proved it.
    async fn reset_password(&self, reset: ResetPassword) -> StoreResult<Option<User>>;
}
