//! The error of a use case: a refusal out of the rows of [`crate::refusal`], or a fault of the service.

use std::time::Duration;

use latchkey_domain::limits::Limited;
use latchkey_domain::password::{BrokenRules, WeakPassword};
use latchkey_domain::reason::Reason;
use latchkey_domain::redirect::RedirectRefusal;
use latchkey_store::{StoreError, UniqueKey};

use crate::refusal::{
    EMAIL_EXISTS, REDIRECT_NOT_ALLOWED, Refusal, SETTING_PINNED, TOO_MANY_REQUESTS, USERNAME_TAKEN,
    WEAK_PASSWORD,
};

/// The result of a use case.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A refusal or a failure of a use case.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A refusal, as its row has it.
    #[error("{}", .0.message)]
    Refused(&'static Refusal),
    /// A refusal whose message, field or wait depend on the request.
    #[error("{}", .1.message)]
    RefusedWith(&'static Refusal, Box<Details>),
    /// A field is missing or wrong.
    #[error("{field}: {problem}")]
    Validation {
        /// The key as the client sent it; a dotted path for a nested one.
        field: &'static str,
        /// The same for programs.
        reason: Reason,
        /// A sentence that goes on after the key, without the value.
        problem: String,
    },
    /// The storage did not answer.
    #[error("the storage is unavailable")]
    StorageUnavailable(#[source] StoreError),
    /// A fault of the service; the source goes to the log, never to the client.
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The parts of a refusal that its row cannot have.
#[derive(Debug, Clone, Default)]
pub struct Details {
    /// The message, in place of the row's.
    pub message: String,
    /// The field that is wrong.
    pub field: Option<&'static str>,
    /// Reasons about the field, for programs.
    pub reasons: Vec<Reason>,
    /// The name of the limit that is used up.
    pub limit: Option<&'static str>,
    /// The time to wait, in place of the row's.
    pub retry_after: Option<Duration>,
}

impl Error {
    /// A field that is missing or wrong.
    pub(crate) fn validation(field: &'static str, reason: Reason, problem: impl Into<String>) -> Self {
        Self::Validation { field, reason, problem: problem.into() }
    }

    /// A password that breaks rules of the policy.
    pub(crate) fn weak_password(field: &'static str, broken: &BrokenRules) -> Self {
        let reasons = broken.rules().iter().map(WeakPassword::reason).collect();
        Self::of_field(&WEAK_PASSWORD, field, reasons, sentence(&broken.to_string()))
    }

    /// A redirect target that is not on the list.
    pub(crate) fn redirect_not_allowed(field: &'static str, refusal: &RedirectRefusal) -> Self {
        Self::of_field(&REDIRECT_NOT_ALLOWED, field, vec![refusal.reason()], sentence(&refusal.to_string()))
    }

    /// A setting that is fixed by file, environment or command line.
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

    /// Wraps a fault of the service.
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(source.into())
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

/// A phrase of a domain type as a sentence: with a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let capital: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
    let stop = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{capital}{}{stop}", rest.as_str())
}
