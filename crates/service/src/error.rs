//! What a caller of a use case can be told. One flat enum: each variant is something the caller can act on,
//! and `latchkey-http` maps every one of them to a code, a status and a next action without a wildcard.

use std::time::Duration;

use latchkey_domain::password::BrokenRules;
use latchkey_domain::reason::Reason;
use latchkey_domain::redirect::RedirectRefusal;
use latchkey_store::{StoreError, UniqueKey};

/// The result of a use case.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a use case refused, or could not do, what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A field is missing or wrong. `field` is the key the client sent, `problem` a sentence about it.
    #[error("{field}: {problem}")]
    Validation {
        /// The key as the client wrote it; a dotted path for a nested one.
        field: &'static str,
        /// The same for programs.
        reason: Reason,
        /// What is wrong with it, without the value itself.
        problem: String,
    },
    /// Search without words.
    #[error("the search has no words")]
    MissingQuery,
    /// The password breaks rules of the policy.
    #[error("{broken}")]
    WeakPassword {
        /// The key of the password.
        field: &'static str,
        /// The rules.
        broken: BrokenRules,
    },
    /// The redirect target is not on the list.
    #[error("{refusal}")]
    RedirectNotAllowed {
        /// The key of the target.
        field: &'static str,
        /// The rule that failed.
        refusal: RedirectRefusal,
    },
    /// A code or link token is unknown, wrong, expired, used or out of attempts: one answer for all.
    #[error("the code or link is not valid")]
    InvalidCode,
    /// Wrong email or password, unknown email, account without a password: one answer for all.
    #[error("the login credentials are invalid")]
    InvalidCredentials,
    /// The bearer or refresh token is missing or no longer good.
    #[error("no valid session")]
    Unauthorized,
    /// The operator demands the anonymous key, and it is missing or wrong.
    #[error("no valid anonymous key")]
    AnonKeyRequired,
    /// The admin key is missing or wrong.
    #[error("no valid admin key")]
    AdminUnauthorized,
    /// Right password, but verification is required and not done.
    #[error("the email address is not verified")]
    EmailNotVerified,
    /// The refresh cookie is good, the CSRF header is not.
    #[error("the CSRF token does not match the session")]
    InvalidCsrfToken,
    /// Sign-up is switched off.
    #[error("sign-up is disabled")]
    SignUpDisabled,
    /// The account is banned.
    #[error("the user is banned")]
    UserBanned,
    /// The caller is known and may not do this.
    #[error("not allowed")]
    Forbidden,
    /// The user of the bearer has no profile.
    #[error("the user has no profile")]
    ProfileNotFound,
    /// No user (or no profile) with this id.
    #[error("no such user")]
    UserNotFound,
    /// Anything else that does not exist.
    #[error("{0} not found")]
    NotFound(&'static str),
    /// `If-Match` names another version.
    #[error("the record has changed")]
    PreconditionFailed,
    /// The address has an account (only told where a session would follow).
    #[error("an account with this email exists")]
    EmailExists,
    /// The username belongs to somebody else.
    #[error("the username is taken")]
    UsernameTaken,
    /// The setting is fixed by file, environment or command line.
    #[error("{0} is pinned by the configuration")]
    SettingPinned(&'static str),
    /// Verification cannot be required without a mail transport.
    #[error("no mail transport is configured")]
    EmailProviderNotConfigured,
    /// The exchange code or its verifier is wrong, or it was begun by another session; the code is burnt.
    #[error("the exchange code or its verifier is not valid")]
    InvalidOAuthCode,
    /// No identity provider has this key.
    #[error("no identity provider has this key")]
    UnsupportedProvider,
    /// The identity provider is known, and has no credentials or is switched off.
    #[error("the identity provider is not configured")]
    ProviderNotConfigured,
    /// The identity provider does not answer, or not as its standard says.
    #[error("the identity provider does not answer")]
    ProviderUnavailable,
    /// The identity provider's token does not pass its checks, or was used before.
    #[error("the provider's token is not valid")]
    InvalidIdToken,
    /// The address has an account that this identity may not open.
    #[error("sign in to link this provider")]
    SignInToLink,
    /// There is no account, and the provider gives no address to make one with.
    #[error("the identity provider gives no email address")]
    ProviderWithoutEmail,
    /// There is no account, verification is required, and the provider does not say that it proved the address.
    #[error("the identity provider did not verify the email address")]
    ProviderEmailNotVerified,
    /// The identity is linked to another account.
    #[error("the identity is linked to another account")]
    IdentityTaken,
    /// Unlinking would leave no way to sign in.
    #[error("this is the last way to sign in")]
    LastSignInMethod,
    /// The key of an identity provider is in use.
    #[error("an identity provider with this key exists")]
    ProviderExists,
    /// The identity provider is configured by the settings file.
    #[error("the identity provider is pinned by the configuration")]
    ProviderPinned,
    /// A limit is used up.
    #[error("too many requests: {limit}")]
    TooManyRequests {
        /// The limit's name, as policy lists it.
        limit: &'static str,
        /// How long to wait.
        retry_after: Duration,
    },
    /// The hashing queue is full.
    #[error("the service is busy")]
    Busy {
        /// How long to wait.
        retry_after: Duration,
    },
    /// The storage did not answer.
    #[error("the storage is unavailable")]
    StorageUnavailable(#[source] StoreError),
    /// Anything that is our own fault; the source goes to the log, never to the client.
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// A field that is missing or wrong.
    pub(crate) fn validation(field: &'static str, reason: Reason, problem: impl Into<String>) -> Self {
        Self::Validation { field, reason, problem: problem.into() }
    }

    /// Wraps a fault of our own.
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(source.into())
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) => Self::StorageUnavailable(error),
            StoreError::Conflict(UniqueKey::UserEmail) => Self::EmailExists,
            StoreError::Conflict(UniqueKey::Username) => Self::UsernameTaken,
            other => Self::internal(other),
        }
    }
}
