//! The one exhaustive match from what a use case refuses to what the client reads. No wildcard: a new variant does
//! not compile until it has a code.

use std::time::Duration;

use latchkey_service::Error;

use super::{ApiError, codes};

/// How long a client waits for a database that does not answer.
const STORAGE_WAIT: Duration = Duration::from_secs(2);

impl ApiError {
    /// The database does not answer, or is not there yet.
    pub(crate) fn storage_unavailable() -> Self {
        Self::new(&codes::STORAGE_UNAVAILABLE, "The service cannot reach its storage at the moment.")
            .retry_after(STORAGE_WAIT)
    }
}
/// How long a client waits for an identity provider that does not answer.
const PROVIDER_WAIT: Duration = Duration::from_secs(10);

impl From<Error> for ApiError {
    #[expect(clippy::too_many_lines, reason = "read as a table")]
    fn from(error: Error) -> Self {
        match error {
            Error::Validation { field, reason, problem } => Self::validation(field, &problem).reason(reason),
            Error::MissingQuery => {
                Self::new(&codes::MISSING_QUERY, "A search needs a search text in `q`.").field("q")
            }
            Error::WeakPassword { field, broken } => {
                let refusal = Self::new(&codes::WEAK_PASSWORD, sentence(&broken.to_string())).field(field);
                broken.rules().iter().fold(refusal, |refusal, rule| refusal.reason(rule.reason()))
            }
            Error::RedirectNotAllowed { field, refusal } => {
                Self::new(&codes::REDIRECT_NOT_ALLOWED, sentence(&refusal.to_string()))
                    .field(field)
                    .reason(refusal.reason())
            }
            Error::InvalidCode => {
                Self::new(&codes::INVALID_CODE, "The code or link is not valid or has expired.")
            }
            Error::InvalidCredentials => {
                Self::new(&codes::INVALID_CREDENTIALS, "The login credentials are invalid.")
            }
            Error::Unauthorized => Self::new(&codes::AUTH_UNAUTHORIZED, "There is no valid session."),
            Error::AnonKeyRequired => Self::new(
                &codes::AUTH_UNAUTHORIZED,
                "This service wants its anonymous key with public calls.",
            )
            .next_action("Send the anonymous key in `Authorization: Bearer`."),
            Error::AdminUnauthorized => {
                Self::new(&codes::ADMIN_UNAUTHORIZED, "The admin key is missing or wrong.")
            }
            Error::EmailNotVerified => {
                Self::new(&codes::EMAIL_NOT_VERIFIED, "The email address is not verified yet.")
            }
            Error::InvalidCsrfToken => Self::new(
                &codes::INVALID_CSRF_TOKEN,
                "The CSRF token is missing or does not belong to the session.",
            ),
            Error::SignUpDisabled => Self::new(&codes::SIGNUP_DISABLED, "Sign-up is switched off."),
            Error::UserBanned => Self::new(&codes::USER_BANNED, "This account is banned."),
            Error::Forbidden => {
                Self::new(&codes::FORBIDDEN, "These credentials do not allow this operation.")
            }
            Error::ProfileNotFound => {
                Self::new(&codes::PROFILE_NOT_FOUND, "The current user has no profile.")
            }
            Error::UserNotFound => {
                Self::new(&codes::USER_NOT_FOUND, "There is no user or profile with this id.")
            }
            Error::NotFound(what) => Self::new(&codes::NOT_FOUND, format!("Not found: {what}.")),
            Error::PreconditionFailed => {
                Self::new(&codes::PRECONDITION_FAILED, "The record has changed since it was read.")
            }
            Error::EmailExists => {
                Self::new(&codes::EMAIL_EXISTS, "An account with this email exists.").field("email")
            }
            Error::UsernameTaken => {
                Self::new(&codes::USERNAME_TAKEN, "The username is taken.").field("username")
            }
            Error::SettingPinned(setting) => Self::new(
                &codes::SETTING_PINNED,
                format!("`{setting}` is pinned by the service's configuration."),
            )
            .field(setting),
            Error::EmailProviderNotConfigured => {
                Self::new(&codes::EMAIL_PROVIDER_NOT_CONFIGURED, "No mail transport is configured.")
            }
            Error::InvalidOAuthCode => Self::new(
                &codes::INVALID_OAUTH_CODE,
                "The code is not valid, was used before, or does not belong to this verifier or session.",
            ),
            Error::UnsupportedProvider => {
                Self::new(&codes::UNSUPPORTED_PROVIDER, "There is no identity provider of this name.")
            }
            Error::ProviderNotConfigured => {
                Self::new(&codes::PROVIDER_NOT_CONFIGURED, "The identity provider is not configured.")
            }
            Error::ProviderUnavailable => {
                Self::new(&codes::SERVICE_BUSY, "The identity provider does not answer at the moment.")
                    .retry_after(PROVIDER_WAIT)
            }
            Error::InvalidIdToken => Self::new(
                &codes::INVALID_ID_TOKEN,
                "The identity provider's token is not valid or was used before.",
            ),
            Error::SignInToLink => Self::new(
                &codes::EMAIL_EXISTS,
                "An account with this email exists: sign in to link this provider.",
            )
            .next_action("Sign in with the account's own method, then link this provider."),
            Error::ProviderWithoutEmail => {
                Self::new(&codes::FORBIDDEN, "The identity provider gives no email address.")
                    .next_action("Sign up with an email address, then link this provider.")
            }
            Error::ProviderEmailNotVerified => Self::new(
                &codes::EMAIL_NOT_VERIFIED,
                "The identity provider did not verify the email address: verify it there, or sign in to link this \
                 provider.",
            )
            .next_action("Verify the address at the provider, or sign in another way and link this provider."),
            Error::IdentityTaken => {
                Self::new(&codes::IDENTITY_TAKEN, "This identity is linked to another account.")
            }
            Error::LastSignInMethod => {
                Self::new(&codes::LAST_SIGN_IN_METHOD, "This is the last way to sign in to this account.")
            }
            Error::ProviderExists => {
                Self::new(&codes::PROVIDER_EXISTS, "An identity provider with this key exists.")
            }
            Error::ProviderPinned => Self::new(
                &codes::SETTING_PINNED,
                "This identity provider is pinned by the service's configuration.",
            ),
            Error::TooManyRequests { limit, retry_after } => {
                Self::new(&codes::TOO_MANY_REQUESTS, format!("Too many requests: {limit}."))
                    .limit(limit)
                    .retry_after(retry_after)
            }
            Error::Busy { retry_after } => {
                Self::new(&codes::SERVICE_BUSY, "The service is busy.").retry_after(retry_after)
            }
            Error::StorageUnavailable(source) => Self::storage_unavailable().caused_by(source),
            Error::Internal(source) => Self::internal(source),
        }
    }
}

/// A domain text as a sentence: with a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let capital: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
    let stop = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{capital}{}{stop}", rest.as_str())
}
