//! Contract for sign-in by a mailed code or link.
//!
//! If sign-up is open, an address without an account gets the mail too: the right code then creates the account. Known
//! and unknown addresses cost the same work, as in [`crate::EmailCodes`].

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::Email;
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::Take;
use latchkey_domain::locale::Locale;
use latchkey_domain::profile::NewProfile;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::AppMetadata;

use crate::accounts::NewAccount;
use crate::email_codes::{CodeAttempt, LinkState, NewCode, NewToken, VerifyOutcome};
use crate::entry::Entry;
use crate::error::{LimitedResult, StoreResult};
use crate::outbox::NewMail;

/// A request for a mail with a sign-in code and, if wanted, a link. Both replace earlier ones of the same address that
/// clients of the same lane requested (known to the account, or others; [`crate::CodeLane`]).
#[derive(Debug, Clone)]
pub struct RequestSignInMail {
    /// Address as the client typed it. The mail goes there if the address has no account; otherwise to the address as
    /// the account has it.
    pub email: Email,
    /// True if an address without an account gets the mail, unless it is reserved.
    pub is_sign_up_open: bool,
    /// Rate limits of the request. One token is taken from each, or none if one is used up.
    pub takes: Vec<Take>,
    /// Code to be stored.
    pub code: NewCode,
    /// Link to be stored, which the mail contains beside the code; `None` for a mail with a code alone.
    pub link: Option<NewSignInLink>,
    /// Mail of kind `SignIn`. If no mail may be sent to the address, it is stored but never sent.
    pub mail: NewMail,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// A sign-in link to be mailed. It works only with the PKCE verifier (RFC 7636) whose challenge the request contained.
#[derive(Debug, Clone)]
pub struct NewSignInLink {
    /// Hash and expiry of the link's token.
    pub token: NewToken,
    /// PKCE challenge: SHA-256 of the verifier.
    pub code_challenge: TokenHash,
    /// Redirect target after the link was opened, already checked against the allow-list.
    pub redirect_to: Option<String>,
}

/// A stored link for sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInLink {
    /// Address that the link was mailed to; as the client typed it, if it had no account.
    pub email: Email,
    /// Status and redirect target of the link.
    pub state: LinkState,
}

/// A sign-in by the token of a link, with the PKCE verifier of the browser that requested the link.
#[derive(Debug, Clone)]
pub struct PresentedLink {
    /// Hash of the link's token.
    pub token: TokenHash,
    /// Address that the link was mailed to ([`SignInLink::email`]).
    pub email: Email,
    /// SHA-256 of the PKCE verifier.
    pub code_challenge: TokenHash,
    /// Audit event of the sign-in. The store fills in user id and session id.
    pub event: AuditEvent,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Data of a sign-in by mail, except the presented code or link.
#[derive(Debug, Clone)]
pub struct EmailSignIn {
    /// Session to open, or challenge to write instead.
    pub entry: Entry,
    /// Account to create if the address has none; `None` if sign-up is closed.
    pub newcomer: Option<Newcomer>,
    /// Audit event of kind `EmailVerified`, written if the sign-in verifies the address of an account.
    pub verified: AuditEvent,
    /// Audit event of a refused sign-in. The store fills in the user id, if the address has an account.
    pub refused: AuditEvent,
}

/// Account that a sign-in creates if the address has none. It is verified, and has no password.
#[derive(Debug, Clone)]
pub struct Newcomer {
    /// Id of the new user.
    pub user_id: UserId,
    /// Profile to create with the account; `None` creates none.
    pub profile: Option<NewProfile>,
    /// Language of the account's mails; `None` uses the language of the request that causes a mail.
    pub locale: Option<Locale>,
    /// Audit event of the creation. The store fills in user id and session id.
    pub event: AuditEvent,
}

impl Newcomer {
    /// Returns this account with its address.
    #[must_use]
    pub fn at(&self, email: Email, now: Timestamp) -> NewAccount {
        NewAccount {
            id: self.user_id,
            email,
            password: None,
            email_verified: true,
            metadata: AppMetadata::default(),
            profile: self.profile.clone(),
            locale: self.locale.clone(),
            browser: None,
            now,
            event: self.event.clone(),
        }
    }
}

/// Sign-in by mail.
///
/// **Effects of a sign-in.** All codes and links for sign-in that were mailed to the address are consumed. If
/// [`latchkey_domain::email_verification::AccountFacts::is_verified_by_sign_in`] is true of the account, the address is
/// verified with the effects of [`latchkey_domain::email_verification::Verification::SignIn`].
#[async_trait]
pub trait EmailSignIns {
    /// Stores a code and a link, and writes their mail to the outbox. A code or link for an address without
    /// an account becomes invalid when an account gets the address.
    async fn request_sign_in_mail(&self, request: RequestSignInMail) -> LimitedResult<()>;

    /// Signs in by a code, whichever client requested it; `email` is the address as the client typed it.
    /// Opens the session of the entry or writes its challenge. Wrong codes are counted as in
    /// [`crate::EmailCodes::verify_by_code`].
    async fn sign_in_by_code(
        &self,
        attempt: CodeAttempt,
        email: Email,
        sign_in: EmailSignIn,
    ) -> LimitedResult<VerifyOutcome>;

    /// Finds a link for sign-in, valid or not. Changes nothing, except that it takes tokens from the rate limits.
    async fn find_sign_in_link(
        &self,
        token: TokenHash,
        takes: &[Take],
        now: Timestamp,
    ) -> LimitedResult<Option<SignInLink>>;

    /// Signs in by a link like [`Self::sign_in_by_code`]. A wrong verifier leaves the link valid; attempts are not
    /// counted.
    async fn sign_in_by_link(&self, link: PresentedLink, sign_in: EmailSignIn) -> StoreResult<VerifyOutcome>;
}
