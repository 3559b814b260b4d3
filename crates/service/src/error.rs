//! The error type of use cases: a refusal, which is one of the constants in [`crate::refusal`], or a fault of
//! the service.

use std::time::Duration;

use latchkey_domain::limits::Limited;
use latchkey_domain::operator::OperatorRefusal;
use latchkey_domain::password::{BrokenRules, WeakPassword};
use latchkey_domain::reason::Reason;
use latchkey_domain::redirect::RedirectRefusal;
use latchkey_store::{StoreError, UniqueKey};

use crate::refusal::{
    EMAIL_EXISTS, LAST_OWNER, OPERATOR_PROTECTED, REDIRECT_NOT_ALLOWED, Refusal, SETTING_PINNED,
    TOO_MANY_REQUESTS, USERNAME_TAKEN, WEAK_PASSWORD,
};
use crate::secrets::{CannotOpen, WrongSecret};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a use case: a refusal, whose cause the caller can remedy, or a fault, whose cause only the
/// operator can remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A refusal with the message, field and waiting time that its constant in [`crate::refusal`] states.
    #[error("{}", .0.message)]
    Refused(&'static Refusal),
    /// A refusal with a message, field or waiting time that depends on the request.
    #[error("{}", .1.message)]
    RefusedWith(&'static Refusal, Box<Details>),
    /// A field of the request is missing or invalid.
    #[error("{field}: {problem}")]
    Validation {
        /// The key of the field as the client sent it; for a nested field, the keys from the top joined by dots.
        field: &'static str,
        reason: Reason,
        /// The rest of a sentence that begins with the key, such as "must not be empty". It never contains the value.
        problem: String,
    },
    /// The database cannot be reached.
    #[error("the storage is unavailable")]
    StorageUnavailable(#[source] StoreError),
    /// A fault of the service, such as a stored value that cannot be decrypted. Its source is logged and
    /// never sent to the client.
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The parts of an error response that depend on the request.
#[derive(Debug, Clone, Default)]
pub struct Details {
    /// The message, in place of [`Refusal::message`].
    pub message: String,
    /// The request field that is invalid, if the error is about one.
    pub field: Option<&'static str>,
    /// Machine-readable reasons for which the field is invalid.
    pub reasons: Vec<Reason>,
    /// The name of the rate limit that is used up, if one is.
    pub limit: Option<&'static str>,
    /// The value of the header `Retry-After`, in place of [`Refusal::retry_after`]; `None` leaves that value.
    pub retry_after: Option<Duration>,
}

impl Error {
    pub(crate) fn validation(field: &'static str, reason: Reason, problem: impl Into<String>) -> Self {
        Self::Validation { field, reason, problem: problem.into() }
    }

    /// Builds the error for a new password that breaks rules of the password policy.
    pub(crate) fn weak_password(field: &'static str, broken: &BrokenRules) -> Self {
        let reasons = broken.rules().iter().map(WeakPassword::reason).collect();
        Self::of_field(&WEAK_PASSWORD, field, reasons, sentence(&broken.to_string()))
    }

    /// Builds the error for a redirect target that is not in the list of allowed redirect URLs.
    pub(crate) fn redirect_not_allowed(field: &'static str, refusal: &RedirectRefusal) -> Self {
        Self::of_field(&REDIRECT_NOT_ALLOWED, field, vec![refusal.reason()], sentence(&refusal.to_string()))
    }

    /// Builds the error for a change of a setting that the settings file, the environment or the command line fixes.
    pub(crate) fn setting_pinned(setting: &'static str) -> Self {
        let message = format!("`{setting}` is pinned by the service's configuration.");
        Self::of_field(&SETTING_PINNED, setting, Vec::new(), message)
    }

    fn of_field(
        refusal: &'static Refusal,
        field: &'static str,
        reasons: Vec<Reason>,
        message: String,
    ) -> Self {
        let details = Details { message, field: Some(field), reasons, ..Details::default() };
        Self::RefusedWith(refusal, Box::new(details))
    }

    /// Wraps the cause of a fault of the service. The cause is logged and never sent to the client.
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(source.into())
    }

    /// True if the database is sealed under another secret than the one that this process was started with.
    #[must_use]
    pub fn is_of_another_secret(&self) -> bool {
        let Self::Internal(source) = self else { return false };
        source.is::<CannotOpen>() || source.is::<WrongSecret>()
    }
}

impl From<&'static Refusal> for Error {
    fn from(refusal: &'static Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Limited> for Error {
    fn from(Limited { limit, retry_after }: Limited) -> Self {
        let message = format!("Too many requests: {limit}.");
        let details =
            Details { message, limit: Some(limit), retry_after: Some(retry_after), ..Details::default() };
        Self::RefusedWith(&TOO_MANY_REQUESTS, Box::new(details))
    }
}

impl From<OperatorRefusal> for Error {
    fn from(refusal: OperatorRefusal) -> Self {
        Self::Refused(match refusal {
            OperatorRefusal::Protected => &OPERATOR_PROTECTED,
            OperatorRefusal::LastOwner => &LAST_OWNER,
        })
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) => Self::StorageUnavailable(error),
            StoreError::Conflict(UniqueKey::UserEmail) => Self::Refused(&EMAIL_EXISTS),
            StoreError::Conflict(UniqueKey::Username) => Self::Refused(&USERNAME_TAKEN),
            other => Self::internal(other),
        }
    }
}

/// Turns the error message of a value type, such as an email address, into a sentence: adds a capital letter
/// and a full stop.
fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let capital: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
    let stop = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{capital}{}{stop}", rest.as_str())
}
