//! Checks of every redirect URL, listed or not, and its parsing.
//!
//! The text is checked before parsing, because the URL parser repairs it silently: it removes tabs and surrounding
//! white space, turns backslashes into slashes, removes an empty user name and inserts missing slashes.

use thiserror::Error;
use url::{ParseError, Url};

/// Maximum length of a redirect URL in characters, as sent and as serialised.
const MAX_CHARS: usize = 2048;
/// Maximum length of a target of the service itself. Its query can have what an app asked for, encrypted: a redirect URL of
/// [`MAX_CHARS`] among it. A request has at most 8 KiB of path and query, and results are appended to the target.
const MAX_OWN_CHARS: usize = 7936;

/// Schemes that run scripts or read local data. The allow-list cannot permit them.
const FORBIDDEN_SCHEMES: [&str; 6] = ["javascript", "data", "file", "vbscript", "blob", "about"];

/// Fault of a redirect URL that no allow-list can permit. The message continues a sentence that begins with "the
/// redirect URL".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UrlFault {
    /// The text is empty.
    #[error("is empty")]
    Empty,
    /// The URL has more than 2,048 characters, as sent or as serialised.
    #[error("is longer than {MAX_CHARS} characters")]
    TooLong,
    /// The text has leading or trailing white space.
    #[error("begins or ends with white space")]
    SurroundingWhiteSpace,
    /// The text contains a control character, such as a tab or line end.
    #[error("contains a control character")]
    ControlCharacter,
    /// The text contains a backslash, which browsers treat as a slash.
    #[error("contains a backslash")]
    Backslash,
    /// The URL has no scheme, or an http-like scheme without `//` and a host.
    #[error("is not absolute: it must begin with a scheme, and http and https with a host")]
    NotAbsolute,
    /// The URL parser refuses the text, for example its host or port.
    #[error("is not a valid URL")]
    Invalid,
    /// The scheme is one of `javascript`, `data`, `file`, `vbscript`, `blob` and `about`.
    #[error("has a scheme that is never allowed")]
    ForbiddenScheme,
    /// The URL has a user name, a password or a bare `@` before the host.
    #[error("contains user information before the host")]
    UserInfo,
}

/// Checks the text, parses it, and checks the parsed URL. Only a target of the service itself may be longer than
/// [`MAX_CHARS`]: see [`refuse_long`].
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
    if url.as_str().len() > MAX_OWN_CHARS {
        return Err(UrlFault::TooLong); // serialised text is ASCII: bytes are characters
    }
    Ok(url)
}

/// Refuses a parsed target that is too long for one of an app.
pub(super) fn refuse_long(text: &str, url: &Url) -> Result<(), UrlFault> {
    let is_long = text.chars().nth(MAX_CHARS).is_some() || url.as_str().len() > MAX_CHARS;
    if is_long { Err(UrlFault::TooLong) } else { Ok(()) }
}

fn refuse_text(text: &str) -> Result<(), UrlFault> {
    if text.is_empty() {
        return Err(UrlFault::Empty);
    }
    if text.chars().nth(MAX_OWN_CHARS).is_some() {
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

/// Returns the host as sent, without port; `None` if the URL has no `//`. The text must be one that [`parse`] accepted.
pub(super) fn host_as_sent(text: &str) -> Option<&str> {
    let authority = authority_as_sent(text)?;
    if authority.starts_with('[') {
        return authority.find(']').map(|end| &authority[..=end]);
    }
    Some(authority.split_once(':').map_or(authority, |(host, _port)| host))
}

/// Returns the authority (the part between `//` and the path) as sent. It equals the one that the URL parser finds if
/// the text has no backslashes and control characters.
fn authority_as_sent(text: &str) -> Option<&str> {
    let (_scheme, rest) = text.split_once(':')?;
    let rest = rest.strip_prefix("//")?;
    rest.split(['/', '?', '#']).next()
}
