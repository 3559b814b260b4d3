//! Contract for email codes and link tokens, which prove control of a mailbox, and for the reset tokens exchanged for
//! them.
//!
//! A request costs the same for known and unknown addresses. If no code may be mailed to an address, for
//! example because it has no account, the same rows are written without a user. Its mail is a decoy: it is
//! stored but never sent.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::codes::{CodeBudget, CodeForm, CodeMac, Purpose};
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::limits::{LimitKey, Take};
use latchkey_domain::password::PasswordHash;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;

use crate::entry::{Entered, Entry};
use crate::error::{LimitedResult, StoreResult};
use crate::outbox::NewMail;
use crate::sessions::PresentedRefreshToken;

/// An email code or link token to be mailed. For each purpose, an account has at most one live link, or else at most
/// one live code per lane. A lane is a group of clients, those known to the account or all others ([`CodeLane`]). A new
/// code invalidates the previous code of its lane and the live link. A new link invalidates the previous link and the
/// live codes of both lanes.
#[derive(Debug, Clone)]
pub enum NewEmailCode {
    /// An email code to be entered by the user.
    Code(NewCode),
    /// A link with a token.
    Link {
        /// Hash and expiry of the link's token.
        token: NewToken,
        /// Redirect target after the link was opened, already checked against the allow-list.
        redirect_to: Option<String>,
    },
}

/// An email code to be mailed. The store selects its form: six digits, or sixteen characters if the requesting client's
/// lane ([`CodeLane`]) has used up its daily number of wrong attempts.
#[derive(Debug, Clone)]
pub struct NewCode {
    /// MAC of the six-digit code, which the prepared mail contains.
    pub mac: CodeMac,
    /// MAC of the sixteen-character code.
    pub long_mac: CodeMac,
    /// Sealed mail payload with the sixteen-character code. It replaces the payload of the prepared mail if this code
    /// is sent.
    pub long_sealed: Vec<u8>,
    /// Client that requests the code, with its limits of wrong attempts.
    pub lane: CodeLane,
    /// Expiry of the code, exclusive.
    pub expires_at: Timestamp,
}

/// Client that requests or enters a code, with the limits of wrong attempts of its lane. A lane is one of two groups of
/// clients with separate counters: clients known to the account, and all others
/// ([`latchkey_domain::code_window::Lane`]).
#[derive(Debug, Clone, Copy)]
pub struct CodeLane {
    /// Key of the pair of account and client network, the same as [`crate::SignInGuard::known_client`]. The
    /// client is known to the account if a sign-in has stored this key.
    pub client: LimitKey,
    /// Limits of wrong attempts per code, hour and day.
    pub budget: CodeBudget,
}

/// A link token or reset token to be stored.
#[derive(Debug, Clone, Copy)]
pub struct NewToken {
    /// Hash of the token. The plain token is never stored.
    pub hash: TokenHash,
    /// Expiry of the token, exclusive.
    pub expires_at: Timestamp,
}

/// A request to mail a new code or link: a repeated verification mail, or a password reset.
#[derive(Debug, Clone)]
pub struct RequestEmailCode {
    /// Canonical address of the account. No code is mailed to a banned account, nor for verification to a verified one.
    pub email: EmailKey,
    /// Purpose of the code or link.
    pub purpose: Purpose,
    /// Rate limits of the request. One token is taken from each, or none if one is used up.
    pub takes: Vec<Take>,
    /// Code or link to be stored.
    pub email_code: NewEmailCode,
    /// Mail of kind `Verify` or `Reset`. If the account may not have the code, it is stored but never sent.
    pub mail: NewMail,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// A new code or link that an admin has mailed to a user.
#[derive(Debug, Clone)]
pub struct SendEmailCode {
    /// Id of the user, who must have the address of `request`.
    pub user_id: UserId,
    /// Code or link, mail and rate limits.
    pub request: RequestEmailCode,
    /// Audit event of the act. The store fills in the user id.
    pub event: AuditEvent,
}

/// Outcome of [`EmailCodes::send_email_code`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SentEmailCode {
    /// The mail was written.
    Sent,
    /// The account may not have this mail, or has another address by now. Nothing was written.
    Refused,
}

/// An attempt to redeem an email code.
#[derive(Debug, Clone)]
pub struct CodeAttempt {
    /// Canonical address that the code was mailed to.
    pub email: EmailKey,
    /// MAC of the entered code.
    pub mac: CodeMac,
    /// Form of the entered code. Wrong attempts with sixteen characters are not counted.
    pub form: CodeForm,
    /// Client that makes the attempt, with its limits of wrong attempts.
    pub lane: CodeLane,
    /// Session of the caller's bearer token; `None` without one. If the account of the code has this session, the
    /// verification counts as made by its owner ([`latchkey_domain::email_verification::VerifiedFrom::Inside`]).
    pub caller: Option<SessionId>,
    /// Rate limits of the request. One token is taken from each, or none if one is used up.
    pub takes: Vec<Take>,
    /// Audit event of a successful attempt. The store fills in user id and session id.
    pub event: AuditEvent,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// An attempt to redeem the token of a verification link by an API call, not in a browser.
#[derive(Debug, Clone)]
pub struct TokenAttempt {
    /// Hash of the link's token.
    pub token: TokenHash,
    /// Address that the request names beside the token, if any. If it is not the token's address, the attempt is
    /// refused and the token stays valid.
    pub email: Option<EmailKey>,
    /// Session of the caller's bearer token; `None` without one. If the account of the link token has this session, the
    /// verification counts as made by its owner ([`latchkey_domain::email_verification::VerifiedFrom::Inside`]).
    pub caller: Option<SessionId>,
    /// Rate limits of the request. One token is taken from each, or none if one is used up.
    pub takes: Vec<Take>,
    /// Audit event of a successful attempt. The store fills in user id and session id.
    pub event: AuditEvent,
}

/// A verification link that is opened in a browser.
#[derive(Debug, Clone)]
pub struct OpenLink {
    /// Hash of the link's token.
    pub token: TokenHash,
    /// Cookies of the browser, which may prove that it belongs to the account.
    pub browser: Browser,
    /// Confirmation by the owner that the verification may remove data of the account.
    pub consent: Consent,
    /// Rate limits of the request. One token is taken from each, or none if one is used up.
    pub takes: Vec<Take>,
    /// Audit event of a verification. The store fills in the user id.
    pub event: AuditEvent,
    /// Mail of kind `AccountCleared`, written if the verification removes data of the account; `None` writes no mail.
    pub mail: Option<NewMail>,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Cookies that prove that a browser is signed in to an account or signed it up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Browser {
    /// Refresh token of the refresh cookie; `None` without the cookie.
    pub refresh: Option<PresentedRefreshToken>,
    /// Hash of the token in the sign-up cookie; `None` without the cookie.
    pub sign_up: Option<TokenHash>,
}

/// Confirmation by the owner that a verification may remove data of the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// The account's owner has not been asked yet whether the verification may remove data of the account.
    Unasked,
    /// The owner pressed the button on the confirmation page.
    Given,
}

/// Outcome of redeeming a verification code or token.
#[derive(Debug, Clone, PartialEq)]
pub enum VerifyOutcome {
    /// The address was verified, and a session was opened or a challenge written.
    Entered(Entered),
    /// The code or token is unknown, wrong, expired, used or out of attempts, or the account is banned.
    Refused,
}

/// Outcome of [`EmailCodes::exchange_reset_code`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeOutcome {
    /// The code was consumed, and the reset token was stored.
    Exchanged,
    /// The code is unknown, wrong, expired, used or out of attempts, or the account is banned.
    Refused,
}

/// Status of a stored link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkStatus {
    /// The link is valid. A used verification link stays valid until it expires, while the account has the link's
    /// address.
    Good,
    /// The link has expired.
    Expired,
    /// A newer link replaced the link, or a change of the account invalidated it.
    Superseded,
    /// The link was used for a password reset or sign-in, or the code in the same mail was used.
    Used,
}

/// A stored link, as shown to the browser that opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkState {
    /// Status of the link at the time of the request.
    pub status: LinkStatus,
    /// Redirect target stored with the link; `None` for the default.
    pub redirect_to: Option<String>,
}

/// Outcome of opening or inspecting a mailed link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenedLink {
    /// The link is stored. If an opened verification link is valid, its address is now verified.
    Known(LinkState),
    /// The verification link is valid, but the browser does not belong to the account, and the verification would
    /// remove data of the account ([`latchkey_domain::email_verification::AccountFacts::needs_confirmation`]). The
    /// owner must confirm first. Nothing changed, except that tokens were taken from the rate limits.
    Asks {
        /// Redirect target stored with the link; `None` for the default.
        redirect_to: Option<String>,
    },
    /// No such link is stored, or the link's address has no account.
    Unknown,
}

/// Account whose password a reset token may set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResetSubject {
    /// Id of the account's user.
    pub user_id: UserId,
    /// Address of the account, for the password policy.
    pub email: Email,
    /// Hash of the last sign-up's password, if one is stored; see [`crate::SignInCandidate::last_sign_up`].
    pub last_sign_up: Option<PasswordHash>,
    /// True if two-step sign-in is on and no second factor was shown for the token.
    pub needs_second_factor: bool,
}

/// Outcome of [`EmailCodes::begin_reset`], before the new password is hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeginReset {
    /// The token is valid. Contains the account whose password it may set.
    Good(ResetSubject),
    /// The token is unknown, expired, used or invalidated, or the account is banned.
    Refused,
}

/// A password reset. The store checks the token again, because it may have been used since [`EmailCodes::begin_reset`].
#[derive(Debug, Clone)]
pub struct ResetPassword {
    /// Hash of a reset link's token, or of a reset token got in exchange for a code.
    pub token: TokenHash,
    /// Hash of the new password.
    pub password: PasswordHash,
    /// Audit event of the reset. The store fills in the user id.
    pub event: AuditEvent,
    /// Mail of kind `PasswordWasReset` to the owner; `None` if security notifications are off.
    pub mail: Option<NewMail>,
    /// Mail of kind `AccountCleared`, written if the reset removes data of the account; `None` writes no mail.
    pub cleared: Option<NewMail>,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Outcome of [`EmailCodes::reset_password`].
#[derive(Debug, Clone, PartialEq)]
pub enum ResetOutcome {
    /// The password was set, and the token was consumed.
    Reset(Box<User>),
    /// Two-step sign-in is on, and no second factor was shown for the token
    /// ([`crate::Challenges::begin_reset_challenge`]). The token remains valid.
    NeedsSecondFactor,
    /// The token is unknown, expired, used or invalidated, or the account is banned.
    Refused,
}

/// Email codes, mailed links and reset tokens.
///
/// **Verification of an address.** It sets `email_verified`, clears `is_pending` and `is_contested`, and
/// consumes the code or link. [`latchkey_domain::email_verification::VerificationEffects`] decides about
/// further changes of the account.
#[async_trait]
pub trait EmailCodes {
    /// Stores a code or link, and writes its mail to the outbox.
    async fn request_email_code(&self, request: RequestEmailCode) -> LimitedResult<()>;

    /// Stores a code or link for an admin, and writes its mail to the outbox, unless the account may not have it.
    async fn send_email_code(&self, send: SendEmailCode) -> LimitedResult<SentEmailCode>;

    /// Redeems a verification code, whichever client requested it. A right code verifies the address, and
    /// opens the session of `entry` or writes its challenge. One transaction checks the code, and counts a
    /// wrong attempt or consumes a right code. The count of a wrong attempt is committed before this returns.
    /// An attempt costs the same if no code is stored. A banned account is refused.
    async fn verify_by_code(&self, attempt: CodeAttempt, entry: Entry) -> LimitedResult<VerifyOutcome>;

    /// Redeems the token of a verification link by an API call: verifies the address, and opens the session of `entry`
    /// or writes its challenge. Refused if the address is verified already.
    async fn verify_by_token(&self, attempt: TokenAttempt, entry: Entry) -> LimitedResult<VerifyOutcome>;

    /// Verifies the address of a link that a browser opened, but opens no session.
    async fn open_verify_link(&self, link: OpenLink) -> LimitedResult<OpenedLink>;

    /// Returns the state of a link of `purpose`, and changes nothing, except that it takes tokens from the rate
    /// limits. A reset token got in exchange for a code is not a link: the outcome is [`OpenedLink::Unknown`].
    async fn inspect_link(
        &self,
        token: TokenHash,
        purpose: Purpose,
        takes: &[Take],
        now: Timestamp,
    ) -> LimitedResult<OpenedLink>;

    /// Exchanges a reset code for a reset token, and invalidates the account's other reset tokens.
    async fn exchange_reset_code(
        &self,
        attempt: CodeAttempt,
        token: NewToken,
    ) -> LimitedResult<ExchangeOutcome>;

    /// Checks a reset token, mailed in a link or exchanged for a code, and returns its account.
    async fn begin_reset(
        &self,
        token: TokenHash,
        takes: &[Take],
        now: Timestamp,
    ) -> LimitedResult<BeginReset>;

    /// Checks a code of this purpose, and consumes it if it is right. Writes no audit event. Returns true if
    /// the code was right. Wrong codes are counted as in [`Self::verify_by_code`].
    async fn use_email_code(&self, attempt: CodeAttempt, purpose: Purpose) -> LimitedResult<bool>;

    /// Sets the password and consumes the token. Of concurrent callers only one succeeds. All sessions of the account
    /// end, and its outstanding codes and tokens become invalid. The address then counts as verified, and the password
    /// as known to come from the mailbox's owner. The reset is refused while two-step sign-in is on and no second
    /// factor was shown for the token.
    ///
    /// If the account was never verified, or its password is not known to come from the mailbox's owner, the
    /// reset also removes its identities and the profile's public text. Otherwise an identity stays linked
    /// only if its provider verified the account's own address.
    async fn reset_password(&self, reset: ResetPassword) -> StoreResult<ResetOutcome>;
}
