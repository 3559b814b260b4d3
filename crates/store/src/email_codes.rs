//! Email codes and link tokens that prove a mailbox, and the reset tokens that follow them.
//!
//! Known and unknown addresses cost the same: a code for an address that may not have one is still written,
//! without a user and with a decoy mail that is never sent.

use std::time::Duration;

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::codes::{CodeBudget, CodeForm, CodeMac, Purpose};
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::limits::{LimitKey, Take};
use latchkey_domain::password::PasswordHash;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;

use crate::error::StoreResult;
use crate::limits::LimitedResult;
use crate::outbox::NewMail;

/// A code or link token about to be mailed. There is one live link per address and purpose, or one live code per
/// address, purpose and lane. Writing a code invalidates the lane's previous code and the link; writing a link
/// invalidates both.
#[derive(Debug, Clone)]
pub enum NewEmailCode {
    /// Email code.
    Code(NewCode),
    /// Link with a token.
    Link {
        /// Token hash and expiry.
        token: NewToken,
        /// Redirect target after the link is opened, already checked against the allowed list.
        redirect_to: Option<String>,
    },
}

/// A code about to be mailed: six digits, or sixteen characters if the requester's lane has used up its wrong
/// attempts of the day.
#[derive(Debug, Clone)]
pub struct NewCode {
    /// MAC of the six digits; the mail carries them.
    pub mac: CodeMac,
    /// MAC of the sixteen characters.
    pub long_mac: CodeMac,
    /// Sealed part of the mail with the sixteen characters.
    pub long_sealed: Vec<u8>,
    /// Lane of the requester and its attempt budget.
    pub lane: CodeLane,
    /// Expiry.
    pub expires_at: Timestamp,
}

/// A lane and its attempt budget. A lane is one client's share of an account's codes and wrong attempts, so that
/// guesses from elsewhere cannot use up the owner's attempts.
#[derive(Debug, Clone, Copy)]
pub struct CodeLane {
    /// Key of the account and client, as in [`crate::SignInGuard::known_client`].
    pub client: LimitKey,
    /// Attempt budget per code and per day.
    pub budget: CodeBudget,
}

/// A link token or reset token about to be issued.
#[derive(Debug, Clone, Copy)]
pub struct NewToken {
    /// Hash of the token; the token itself is never stored.
    pub hash: TokenHash,
    /// Expiry.
    pub expires_at: Timestamp,
}

/// A request for an email code or link: resend of a verification, or a password reset.
#[derive(Debug, Clone)]
pub struct RequestEmailCode {
    /// Address of the account. Verification needs an unverified account; neither purpose serves a banned one.
    pub email: EmailKey,
    /// Purpose of the code.
    pub purpose: Purpose,
    /// Rate limits to take from, all or none.
    pub takes: Vec<Take>,
    /// The code or link.
    pub email_code: NewEmailCode,
    /// Mail of kind `Verify` or `Reset`; a decoy if the account may not
    /// have the code.
    pub mail: NewMail,
    /// Time of the request.
    pub now: Timestamp,
}

/// An attempt to redeem an email code.
#[derive(Debug, Clone)]
pub struct CodeAttempt {
    /// Address that the code was mailed to.
    pub email: EmailKey,
    /// MAC of the entered code.
    pub mac: CodeMac,
    /// Form of the entered code. Attempts at long codes are not counted.
    pub form: CodeForm,
    /// Lane of the caller and its attempt budget.
    pub lane: CodeLane,
    /// Session of the caller's bearer token. A session of the code's own account verifies from inside.
    pub caller: Option<SessionId>,
    /// Rate limits to take from first, all or none.
    pub takes: Vec<Take>,
    /// Audit event of a success; the store fills in user and session.
    pub event: AuditEvent,
    /// Time of the request.
    pub now: Timestamp,
}

/// An attempt to redeem a verification link's token over the API.
#[derive(Debug, Clone)]
pub struct TokenAttempt {
    /// Hash of the token.
    pub token: TokenHash,
    /// Address that the caller claims for the token; `None` if the caller sends none. A mismatch refuses the
    /// token and leaves it valid.
    pub email: Option<EmailKey>,
    /// Session of the caller's bearer token. A session of the token's own account verifies from inside.
    pub caller: Option<SessionId>,
    /// Rate limits to take from first, all or none.
    pub takes: Vec<Take>,
    /// Audit event of a success; the store fills in user and session.
    pub event: AuditEvent,
}

/// A verification link opened in a browser.
#[derive(Debug, Clone)]
pub struct OpenLink {
    /// Hash of the link's token.
    pub token: TokenHash,
    /// Cookies of the browser.
    pub browser: Browser,
    /// The owner's consent to what the verification removes.
    pub consent: Consent,
    /// Rate limits to take from first, all or none.
    pub takes: Vec<Take>,
    /// Audit event of a verification; the store fills in the user.
    pub event: AuditEvent,
    /// Time of the request.
    pub now: Timestamp,
}

/// Cookies by which a browser proves that it belongs to an account.
#[derive(Debug, Clone, Copy, Default)]
pub struct Browser {
    /// Refresh token cookie.
    pub refresh: Option<RefreshCookie>,
    /// Hash of the token in the sign-up cookie.
    pub sign_up: Option<TokenHash>,
}

/// A refresh token that is inspected without being used.
#[derive(Debug, Clone, Copy)]
pub struct RefreshCookie {
    /// Hash of its token family.
    pub family: TokenHash,
    /// Hash of the token.
    pub presented: TokenHash,
    /// Grace period of a replaced token.
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

/// Outcome of proving an address.
#[derive(Debug, Clone, PartialEq)]
pub enum VerifyOutcome {
    /// The address is verified and the session is open.
    Verified(Box<User>),
    /// Not so: unknown, wrong, expired, used, out of attempts.
    Refused,
}

/// Outcome of exchanging a reset code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeOutcome {
    /// The code is consumed and the reset token is valid.
    Exchanged,
    /// Not so: unknown, wrong, expired, used, out of attempts.
    Refused,
}

/// Status of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkStatus {
    /// Valid. A used verification link stays valid until its expiry, as long as its address is still the
    /// account's.
    Good,
    /// Expired.
    Expired,
    /// Replaced by a newer link, or invalidated by a change of the account.
    Superseded,
    /// Consumed by its reset.
    Used,
}

/// A link with a stored row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkState {
    /// Status of the link.
    pub status: LinkStatus,
    /// Redirect target of the browser.
    pub redirect_to: Option<String>,
}

/// Outcome of opening a verification link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenedLink {
    /// The row exists; if the link is valid, the address is verified now.
    Known(LinkState),
    /// The link is valid, but verifying would remove parts of an account that the browser does not belong to
    /// ([`latchkey_domain::email_verification::AccountFacts::needs_confirmation`]). Nothing changed but the rate limits.
    Asks {
        /// Redirect target of the browser.
        redirect_to: Option<String>,
    },
    /// No such link, or of an address without an account.
    Unknown,
}

/// Account whose password a reset token sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResetSubject {
    /// Id of the user.
    pub user_id: UserId,
    /// Address of the user, for the password rules.
    pub email: Email,
    /// [`crate::SignInCandidate::last_sign_up`] of the user.
    pub last_sign_up: Option<PasswordHash>,
}

/// Outcome of presenting a reset token, before the new password is hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeginReset {
    /// The token is valid.
    Good(ResetSubject),
    /// It is not.
    Refused,
}

/// A password reset.
#[derive(Debug, Clone)]
pub struct ResetPassword {
    /// Hash of the token, of a reset link or of an exchange.
    pub token: TokenHash,
    /// New password.
    pub password: PasswordHash,
    /// Audit event; the store fills in the user.
    pub event: AuditEvent,
    /// Mail of kind `PasswordWasReset` to the owner, if security notifications are on.
    pub mail: Option<NewMail>,
    /// Time of the request.
    pub now: Timestamp,
}

/// Email codes, links and reset tokens.
///
/// **Proof of a mailbox.** Verification sets `email_verified`, ends `is_pending` and `is_contested`, and consumes
/// the live code or link. [`latchkey_domain::email_verification::VerificationEffects`] decides its other effects.
#[async_trait]
pub trait EmailCodes {
    /// Writes a code or link and its mail.
    async fn request_email_code(&self, request: RequestEmailCode) -> LimitedResult<()>;

    /// Redeems a verification code of any lane; a success verifies the address and opens `session`. Checking the
    /// attempt, counting a wrong one and consuming the code are atomic. A refused attempt is durable before this
    /// returns, counts in the caller's lane, and costs the same if there is no code. A banned account is refused.
    async fn verify_by_code(&self, attempt: CodeAttempt, session: NewSession)
    -> LimitedResult<VerifyOutcome>;

    /// Redeems a verification link's token over the API. Opens `session` only if this very call turns
    /// `email_verified` true; otherwise it is refused.
    async fn verify_by_token(
        &self,
        attempt: TokenAttempt,
        session: NewSession,
    ) -> LimitedResult<VerifyOutcome>;

    /// Opens a verification link in a browser: verifies the address and opens no session.
    async fn open_verify_link(&self, link: OpenLink) -> LimitedResult<OpenedLink>;

    /// Inspects a link of `purpose` and changes nothing but the rate limits; `None` if it is unknown. Exchanged
    /// reset tokens are not links.
    async fn inspect_link(
        &self,
        token: TokenHash,
        purpose: Purpose,
        takes: &[Take],
        now: Timestamp,
    ) -> LimitedResult<OpenedLink>;

    /// Exchanges a reset code for a reset token and invalidates the account's other reset tokens.
    async fn exchange_reset_code(
        &self,
        attempt: CodeAttempt,
        token: NewToken,
    ) -> LimitedResult<ExchangeOutcome>;

    /// Validates a reset token (of a link or of an exchange) and returns its account.
    async fn begin_reset(
        &self,
        token: TokenHash,
        takes: &[Take],
        now: Timestamp,
    ) -> LimitedResult<BeginReset>;

    /// Sets the password and consumes the token: of concurrent callers exactly one gets the user. Ends every
    /// session of the account and deletes its outstanding codes and tokens. `email_verified` is true afterwards
    /// and the password proven.
    ///
    /// The first proof of a mailbox on an account that was never verified, or whose password is unproven, also
    /// removes identities and the profile's public text. On any other account an identity stays if its provider
    /// verified the account's own address.
    async fn reset_password(&self, reset: ResetPassword) -> StoreResult<Option<User>>;
}
