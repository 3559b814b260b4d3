//! Checks of every redirect URL before the list, and the one parse.
//!
//! The text as sent is checked first, because the parser is too lenient here: it strips white space and tabs,
//! turns backslashes into slashes, drops an empty userinfo and inserts missing slashes.

use thiserror::Error;
use url::{ParseError, Url};

/// Longest redirect URL in characters, as sent and as serialised.
const MAX_CHARS: usize = 2048;

/// Schemes that run scripts or read local data; no list can allow them.
const FORBIDDEN_SCHEMES: [&str; 6] = ["javascript", "data", "file", "vbscript", "blob", "about"];

/// Fault of a URL as redirect target, listed or not. The text continues "the redirect URL".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UrlFault {
    /// Empty text.
    #[error("is empty")]
    Empty,
    /// More than 2,048 characters, as sent or as serialised.
    #[error("is longer than {MAX_CHARS} characters")]
    TooLong,
    /// White space before or after the URL.
    #[error("begins or ends with white space")]
    SurroundingWhiteSpace,
    /// A control character, including tab and line end.
    #[error("contains a control character")]
    ControlCharacter,
    /// A backslash, which browsers treat as a slash.
    #[error("contains a backslash")]
    Backslash,
    /// No scheme, or an http-like scheme without `//` and a host after it.
    #[error("is not absolute: it must begin with a scheme, and http and https with a host")]
    NotAbsolute,
    /// Refused by the parser, for example for its host or port.
    #[error("is not a valid URL")]
    Invalid,
    /// One of the schemes `javascript data file vbscript blob about`.
    #[error("has a scheme that is never allowed")]
    ForbiddenScheme,
    /// A user name, a password or a bare `@` before the host.
    #[error("contains user information before the host")]
    UserInfo,
}

/// Checks and parses a URL.
pub(super) fn parse(text: &str) -> Result<Url, UrlFault> {
    refuse_text(text)?;

    let url = Url::parse(text).map_err(|error| match error {
        ParseError::RelativeUrlWithoutBase => UrlFault::NotAbsolute,
        _ => UrlFault::Invalid,
    })?;

    if FORBIDDEN_SCHEMES.contains(&url.scheme()) {
        return Err(UrlFault::ForbiddenScheme);
    }
    let authority = authority_as_sent(text);
    if url.is_special() && authority.is_none_or(str::is_empty) {
        return Err(UrlFault::NotAbsolute);
    }
    if authority.is_some_and(|authority| authority.contains('@')) {
        return Err(UrlFault::UserInfo);
    }
    if url.as_str().len() > MAX_CHARS {
        return Err(UrlFault::TooLong); // serialised text is ASCII: bytes are characters
    }
    Ok(url)
}

fn refuse_text(text: &str) -> Result<(), UrlFault> {
    if text.is_empty() {
        return Err(UrlFault::Empty);
    }
    if text.chars().nth(MAX_CHARS).is_some() {
        return Err(UrlFault::TooLong);
    }
    if text.chars().any(char::is_control) {
        return Err(UrlFault::ControlCharacter);
    }
    if text.trim() != text {
        return Err(UrlFault::SurroundingWhiteSpace);
    }
    if text.contains('\\') {
        return Err(UrlFault::Backslash);
    }
    Ok(())
}

/// Host as sent, without port; `None` without `//`. Only for texts that [`parse`] accepted.
pub(super) fn host_as_sent(text: &str) -> Option<&str> {
    let authority = authority_as_sent(text)?;
    if authority.starts_with('[') {
        return authority.find(']').map(|end| &authority[..=end]);
    }
    Some(authority.split_once(':').map_or(authority, |(host, _port)| host))
}

/// Authority as sent. Without backslashes and control characters the parser finds the same.
fn authority_as_sent(text: &str) -> Option<&str> {
    let (_scheme, rest) = text.split_once(':')?;
    let rest = rest.strip_prefix("//")?;
    rest.split(['/', '?', '#']).next()
}
