//! An entry of the redirect list.

use thiserror::Error;
use url::{Position, Url};

use super::UrlPart;
use super::pattern::{HostPattern, PathPattern, PatternFault};
use super::screen::{self, UrlFault};

/// An entry of the redirect list: an absolute URL; with an http-like scheme, host and path may have
/// wildcards.
///
/// - Scheme, host, port and path are compared after parsing; a default port equals none.
/// - `*` matches one whole host label (letters, digits, `-`, `_`) or one whole path segment (not empty); `**`
///   at the end of the path matches the rest of the path, even an empty one. After its wildcards a host must
///   end in two concrete labels, or in `localhost`.
/// - Text that a path wildcard matches must be free of percent-encoded slashes, backslashes, control
///   characters and dot segments, in up to three layers of encoding.
/// - Without a query an entry allows any query; with one it requires exactly that query.
/// - Custom schemes match exactly, character by character, without wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectEntry {
    text: String,
    target: Target,
    query: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    /// An http-like ("special") scheme.
    Web { scheme: String, host: HostPattern, port: Option<u16>, path: PathPattern, origin: Option<String> },
    /// Any other scheme; `front` is everything before the query.
    Custom { scheme: String, front: String },
}

/// Error: an invalid entry.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the redirect list entry {entry:?} {fault}")]
pub struct InvalidEntry {
    /// The entry as configured.
    pub entry: String,
    /// The fault.
    pub fault: EntryFault,
}

/// Fault of an entry. The text continues a sentence about the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EntryFault {
    /// The URL itself is refused as a target.
    #[error("{0}")]
    Url(#[from] UrlFault),
    /// A fragment, which is never compared.
    #[error("has a fragment; leave out the # and what follows")]
    Fragment,
    /// A wildcard in a URL whose scheme is not http-like.
    #[error("has a wildcard; URLs of custom schemes match exactly")]
    CustomWildcard,
    /// A `*` that is only part of a host label, or `**` in a host.
    #[error("has a wildcard that is no whole host label; * stands for one whole label")]
    PartialHostWildcard,
    /// A wildcard host that matches hosts of many owners.
    #[error(
        "has a host that is too wide; after its wildcards it must end in two concrete labels, as in *.example.com, or in localhost"
    )]
    WideHost,
    /// A `*` that is only part of a path segment, or `**` before the last segment.
    #[error(
        "has a wildcard that is no whole path segment; * stands for one whole segment, ** for the rest of the path"
    )]
    PartialPathWildcard,
}

impl RedirectEntry {
    /// Parses an entry; nothing is trimmed.
    pub fn parse(text: &str) -> Result<Self, InvalidEntry> {
        Self::read(text).map_err(|fault| InvalidEntry { entry: text.to_owned(), fault })
    }

    /// The entry as configured.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Domain behind the last wildcard of the host, serialised; `None` without a wildcard host.
    #[must_use]
    pub fn wildcard_parent(&self) -> Option<String> {
        match &self.target {
            Target::Web { host, .. } => host.wildcard_parent(),
            Target::Custom { .. } => None,
        }
    }

    fn read(text: &str) -> Result<Self, EntryFault> {
        let url = screen::parse(text)?;
        if url.fragment().is_some() {
            return Err(EntryFault::Fragment);
        }
        let target = if url.is_special() { Target::web(&url)? } else { Target::custom(&url)? };

        Ok(Self { text: text.to_owned(), target, query: url.query().map(str::to_owned) })
    }

    /// Origin of an http or https entry without wildcards.
    pub(super) fn origin(&self) -> Option<&str> {
        match &self.target {
            Target::Web { origin, .. } => origin.as_deref(),
            Target::Custom { .. } => None,
        }
    }

    /// Compares a URL with the entry; fails with the first part that differs.
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
