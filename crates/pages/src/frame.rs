//! The data that every page shows besides its own: those of the service and the reader, and the outcome of the last
//! request.

use serde::Serialize;

use crate::message::{Notice, Problem, When};

/// Data of the service, the same on every page.
#[derive(Debug, Clone, Serialize)]
pub struct Site {
    /// Name of the service (`server.service_name`).
    pub name: String,
    pub links: Links,
}

/// Links at the foot of every page (`pages.links`).
#[derive(Debug, Clone, Default, Serialize)]
pub struct Links {
    pub terms: Option<Address>,
    pub privacy: Option<Address>,
    pub support: Option<Address>,
}

/// Data of one page that its layout shows.
#[derive(Debug, Clone, Serialize)]
pub struct Frame {
    /// Path and query of this page without `locale`, which the choice of another language adds. Empty if the page cannot
    /// be loaded again; then it has no choice.
    pub here: String,
    /// Tag of the language that the address of this page asks for. Links to other pages of the account keep it.
    pub locale: Option<String>,
    /// The time of the response. Durations such as "3 hours ago" are relative to it.
    pub now: When,
    /// Email address of the signed-in user, shown at the top of the account's pages.
    pub account: Option<String>,
    pub notice: Option<Notice>,
    /// Errors for which the submitted form was refused, in the order of the form's fields.
    pub problems: Vec<Problem>,
    /// The end of the session or of the running sign-in, if the page must announce it. The announcement appears a
    /// minute before.
    pub ending: Option<Ending>,
}

impl Frame {
    /// Creates the data of a page without notice and refusals.
    #[must_use]
    pub fn new(here: impl Into<String>, now: When) -> Self {
        Self {
            here: here.into(),
            locale: None,
            now,
            account: None,
            notice: None,
            problems: Vec::new(),
            ending: None,
        }
    }
}

/// The end of a session or of a running sign-in.
#[derive(Debug, Clone, Serialize)]
pub struct Ending {
    /// Seconds until the end.
    pub seconds: u64,
    /// URL that postpones the end; empty if nothing does.
    pub stay: String,
}

/// A URL outside of the pages, of an app or of the operator. Its scheme cannot run a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Address(String);

/// Schemes that browsers execute, or that lead to a local file.
const REFUSED: [&str; 6] = ["javascript", "data", "vbscript", "file", "blob", "about"];

impl Address {
    /// Parses an absolute URL. Returns `None` without a scheme, with a scheme of [`REFUSED`], or with spaces or control
    /// characters.
    #[must_use]
    pub fn parse(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once(':')?;
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        let is_refused = REFUSED.iter().any(|refused| scheme.eq_ignore_ascii_case(refused));
        let is_plain = !rest.is_empty() && !url.contains(|c: char| c.is_control() || c.is_whitespace());
        (is_scheme && !is_refused && is_plain).then(|| Self(url.to_owned()))
    }
}

/// A form that changes something: its URL, and the token that shows that it comes from a page of this service.
#[derive(Debug, Clone, Serialize)]
pub struct Form {
    /// Path and query to which the form is posted.
    pub action: String,
    pub token: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_run_script_are_refused() {
        for url in [
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "data:text/html,x",
            "/auth",
            "https:",
            "java\nscript:x",
            " x:y",
        ] {
            assert_eq!(Address::parse(url), None, "{url}");
        }
        for url in ["https://app.example.org/done?code=1", "myapp://callback", "mailto:help@example.org"] {
            assert!(Address::parse(url).is_some(), "{url}");
        }
    }
}
