//! Views of errors, and of the start page in development.

use serde::Serialize;

use crate::message::Wait;
use crate::view::views;

/// An error page.
#[derive(Debug, Clone, Serialize)]
pub struct ErrorPage {
    pub cause: ErrorCause,
    pub request_id: String,
    /// URL at which the user can continue; `None` if only the app knows it.
    pub next: Option<String>,
}

/// Cause of an error page. Its text is in the table `error` of each language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum ErrorCause {
    /// The path is unknown.
    NotFound,
    /// The request cannot be read.
    BadRequest,
    /// The redirect target or challenge of an app is refused.
    BadTarget,
    /// The flow or ticket has expired, or belongs to another browser.
    BadFlow,
    /// The flow has expired, and no app began it.
    Expired,
    /// The token of the form does not match this browser, usually because of a sign-in in another tab.
    StaleForm,
    Forbidden,
    /// The header `Host` does not name the service.
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
    /// Links as key and URL: `pages`, `account`, `console`, `inbox`, `api`. Their texts are in the table `start` of
    /// each language.
    pub links: Vec<(&'static str, String)>,
    /// Shell command that makes the first sign-up.
    pub command: String,
}

views! {
    ErrorPage "error.html"
    Start "start.html"
}
