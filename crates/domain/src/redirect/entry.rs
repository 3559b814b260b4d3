//! Entry of the allow-list of redirect targets: syntax, faults and comparison with a URL.

use thiserror::Error;
use url::{Position, Url};

use super::UrlPart;
use super::pattern::{HostPattern, PathPattern, PatternFault};
use super::screen::{self, UrlFault};

/// An entry of the allow-list: an absolute URL. Host and path may have wildcards if the scheme is http-like (a
/// "special" scheme of the URL Standard).
///
/// - Scheme, host, port and path are compared after parsing. A missing port equals the scheme's default port.
/// - `*` matches one whole host label (letters, digits, `-`, `_`) or one whole, non-empty path segment. `**` at the
///   end of the path matches the rest of the path, which may be empty. A host with wildcards must end in two labels
///   without wildcards, or in `localhost`.
/// - A segment matched by a path wildcard must not contain a slash, backslash or control character, or be a dot segment,
///   not even after percent-decoding it up to three times.
/// - An entry without a query allows any query; an entry with a query requires exactly that query.
/// - A URL with a custom scheme must equal the entry character by character. Such an entry has no wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectEntry {
    text: String,
    target: Target,
    query: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    /// URL with an http-like ("special") scheme.
    Web { scheme: String, host: HostPattern, port: Option<u16>, path: PathPattern, origin: Option<String> },
    /// URL with any other scheme. `front` is everything before the query.
    Custom { scheme: String, front: String },
}

/// Error of [`RedirectEntry::parse`]: an invalid entry and its fault.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the redirect list entry {entry:?} {fault}")]
pub struct InvalidEntry {
    /// Text of the entry in the settings.
    pub entry: String,
    /// Fault of the entry.
    pub fault: EntryFault,
}

/// Fault of an entry. The message continues a sentence that begins with the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EntryFault {
    /// The URL is never allowed as a target.
    #[error("{0}")]
    Url(#[from] UrlFault),
    /// The URL has a fragment, but fragments are never compared.
    #[error("has a fragment; leave out the # and what follows")]
    Fragment,
    /// The URL has a wildcard, but a custom scheme, for which wildcards are not supported.
    #[error("has a wildcard; URLs of custom schemes match exactly")]
    CustomWildcard,
    /// The host has a `*` that is only part of a label, or `**`.
    #[error("has a wildcard that is no whole host label; * stands for one whole label")]
    PartialHostWildcard,
    /// The host has a wildcard that matches hosts of different owners, such as `*.com`.
    #[error(
        "has a host that is too wide; after its wildcards it must end in two concrete labels, as in *.example.com, or in localhost"
    )]
    WideHost,
    /// The path has a `*` that is only part of a segment, or a `**` that is not the last segment.
    #[error(
        "has a wildcard that is no whole path segment; * stands for one whole segment, ** for the rest of the path"
    )]
    PartialPathWildcard,
}

impl RedirectEntry {
    /// Parses the text of an entry, without trimming it.
    pub fn parse(text: &str) -> Result<Self, InvalidEntry> {
        Self::read(text).map_err(|fault| InvalidEntry { entry: text.to_owned(), fault })
    }

    /// Returns the text of the entry in the settings.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the domain after the last wildcard of the host: `example.com` of `*.example.com`. `None` without a
    /// wildcard.
    #[must_use]
    pub fn wildcard_parent(&self) -> Option<String> {
        match &self.target {
            Target::Web { host, .. } => host.wildcard_parent(),
            Target::Custom { .. } => None,
        }
    }

    fn read(text: &str) -> Result<Self, EntryFault> {
        let url = screen::parse(text)?;
        screen::refuse_long(text, &url)?;
        if url.fragment().is_some() {
            return Err(EntryFault::Fragment);
        }
        let target = if url.is_special() { Target::web(&url)? } else { Target::custom(&url)? };

        Ok(Self { text: text.to_owned(), target, query: url.query().map(str::to_owned) })
    }

    /// Returns the origin of an http or https entry without wildcards.
    pub(super) fn origin(&self) -> Option<&str> {
        match &self.target {
            Target::Web { origin, .. } => origin.as_deref(),
            Target::Custom { .. } => None,
        }
    }

    /// Compares a URL with the entry. Fails with the first part that differs.
    pub(super) fn compare(&self, url: &Url) -> Result<(), UrlPart> {
        self.target.compare(url)?;
        let is_query_right = self.query.is_none() || self.query.as_deref() == url.query();
        ensure(is_query_right, UrlPart::Query)
    }
}

impl Target {
    fn web(url: &Url) -> Result<Self, EntryFault> {
        let host = HostPattern::parse(url.host_str().unwrap_or_default())?;
        let path = PathPattern::parse(url.path())?;
        let has_origin = matches!(url.scheme(), "http" | "https") && host.is_exact() && path.is_exact();
        let origin = has_origin.then(|| url.origin().ascii_serialization());

        Ok(Self::Web {
            scheme: url.scheme().to_owned(),
            host,
            port: url.port_or_known_default(),
            path,
            origin,
        })
    }

    fn custom(url: &Url) -> Result<Self, EntryFault> {
        let front = &url[..Position::AfterPath];
        if front.contains('*') {
            return Err(EntryFault::CustomWildcard);
        }
        Ok(Self::Custom { scheme: url.scheme().to_owned(), front: front.to_owned() })
    }

    fn compare(&self, url: &Url) -> Result<(), UrlPart> {
        match self {
            Self::Web { scheme, host, port, path, .. } => {
                ensure(url.scheme() == scheme, UrlPart::Scheme)?;
                ensure(url.host_str().is_some_and(|sent| host.matches(sent)), UrlPart::Host)?;
                ensure(url.port_or_known_default() == *port, UrlPart::Port)?;
                ensure(path.matches(url.path()), UrlPart::Path)
            }
            Self::Custom { scheme, front } => {
                ensure(url.scheme() == scheme, UrlPart::Scheme)?;
                ensure(url[..Position::AfterPath] == *front, UrlPart::Path)
            }
        }
    }
}

impl From<PatternFault> for EntryFault {
    fn from(fault: PatternFault) -> Self {
        match fault {
            PatternFault::PartialHostWildcard => Self::PartialHostWildcard,
            PatternFault::WideHost => Self::WideHost,
            PatternFault::PartialPathWildcard => Self::PartialPathWildcard,
        }
    }
}

fn ensure(is_met: bool, part: UrlPart) -> Result<(), UrlPart> {
    if is_met { Ok(()) } else { Err(part) }
}
