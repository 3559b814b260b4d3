//! What surrounds a page: the service, the reader, and what the last request did.

use serde::Serialize;

use crate::message::{Notice, Problem, When};

/// The service, the same on every page.
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

/// The surroundings of one page.
#[derive(Debug, Clone, Serialize)]
pub struct Frame {
    /// Path and query of this page without `locale`; the links to other languages extend it.
    pub here: String,
    /// The time of the response, from which distances are counted.
    pub now: When,
    /// Email address of the page session, shown at the head of the account's pages.
    pub account: Option<String>,
    pub notice: Option<Notice>,
    /// Refusals of the last request, in the order of the fields.
    pub problems: Vec<Problem>,
    /// The end of the session or flow, if the page says it a minute ahead.
    pub ending: Option<Ending>,
}

impl Frame {
    /// Creates the frame of a page that nothing happened to.
    #[must_use]
    pub fn new(here: impl Into<String>, now: When) -> Self {
        Self { here: here.into(), now, account: None, notice: None, problems: Vec::new(), ending: None }
    }
}

/// The end of a session or flow.
#[derive(Debug, Clone, Serialize)]
pub struct Ending {
    /// Seconds until the end.
    pub seconds: u64,
    /// Address that extends it.
    pub stay: String,
}

/// An address outside the pages: of an app, or of the operator. Its scheme runs no script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Address(String);

/// Schemes that browsers run, or that lead into a local file.
const REFUSED: [&str; 6] = ["javascript", "data", "vbscript", "file", "blob", "about"];

impl Address {
    /// Parses an absolute URL; `None` for one without scheme, with a scheme of [`REFUSED`], or with spaces or controls.
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

/// A form that acts: its address, and the token that shows that it comes from our own page.
#[derive(Debug, Clone, Serialize)]
pub struct Form {
    /// Path and query of the `POST`.
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
