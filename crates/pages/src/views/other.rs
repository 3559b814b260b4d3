//! Views of errors, and of the start page in development.

use serde::Serialize;

use crate::message::Wait;
use crate::view::views;

/// An error page.
#[derive(Debug, Clone, Serialize)]
pub struct ErrorPage {
    pub cause: ErrorCause,
    pub request_id: String,
    /// Where to go on; `None` where only the app knows.
    pub next: Option<String>,
}

/// Cause of an error page, in the words of the table `error` of a language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum ErrorCause {
    /// The path is unknown.
    NotFound,
    /// The request cannot be read.
    BadRequest,
    /// The redirect target or challenge of an app is refused.
    BadTarget,
    /// The flow or ticket is expired, or of another browser.
    BadFlow,
    /// The form token does not match this browser: usually a sign-in in another tab.
    StaleForm,
    Forbidden,
    /// The `Host` is not that of the service.
    WrongHost,
    Throttled {
        wait: Wait,
    },
    Busy {
        wait: Wait,
    },
    Internal,
}

/// The page at `/` in development.
#[derive(Debug, Clone, Serialize)]
pub struct Start {
    /// Names of the table `start` of a language, with their addresses: `pages`, `account`, `console`, `inbox`, `api`.
    pub links: Vec<(&'static str, String)>,
    /// The first sign-up as a command.
    pub command: String,
}

views! {
    ErrorPage "error.html"
    Start "start.html"
}
