//! Allow-list of redirect targets after a link or a sign-in.
//!
//! - `screen`: checks of every URL, listed or not, and the one WHATWG parse.
//! - `entry`: entries of the list.
//! - `pattern`: hosts and paths with `*` and `**`.
//!
//! After the parse only the parsed URL and its serialised text are used, except for the loopback hosts of
//! development, which are compared as sent. The list itself is a setting.

mod entry;
mod pattern;
mod screen;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use thiserror::Error;
use url::form_urlencoded;

pub use entry::{EntryFault, InvalidEntry, RedirectEntry};
pub use screen::UrlFault;

use crate::reason::Reason;
use crate::shape::{Shape, Shaped};

/// An allowed redirect target: the serialised text of the parsed URL, absolute, without userinfo.
///
/// Only [`RedirectPolicy::check`] creates one from input. `Debug` omits query and fragment, which may carry
/// secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct RedirectUrl(String);

impl Shaped for RedirectUrl {
    const SENT: Shape = Shape {
        format: Some("uri"),
        ..Shape::new(
            "Where the browser goes after the mailed link; must be on the list of allowed redirect URLs. Required where \
             the method is `link` and no default redirect URL is set.",
            "https://app.example.org/welcome",
        )
    };
}

/// Allow-list of redirect targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectPolicy {
    entries: Vec<RedirectEntry>,
    development: DevelopmentLoopback,
}

/// Treatment of loopback targets if the list is empty. Only development mode allows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DevelopmentLoopback {
    /// Allows http and https targets with the literal host `localhost` or `127.0.0.1` while the list is
    /// empty.
    Allowed,
    /// An empty list refuses all targets.
    Refused,
}

/// Refusal of a redirect target. The text names the rule and repeats nothing of the URL.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RedirectRefusal {
    /// The URL is refused regardless of the list.
    #[error("the redirect URL {0}")]
    Fault(#[from] UrlFault),
    /// The list is empty.
    #[error("no redirect URL is allowed: the list of allowed redirect URLs is empty")]
    NothingAllowed,
    /// The list is empty, and the host is not a loopback host.
    #[error(
        "the list of allowed redirect URLs is empty, so only http and https URLs on localhost or 127.0.0.1 are allowed"
    )]
    NotLoopback,
    /// No entry matches; the closest one differs first in this part.
    #[error("the redirect URL is not on the list of allowed redirect URLs: its {0} is not allowed there")]
    Unlisted(UrlPart),
}

impl RedirectRefusal {
    /// Reason code of the refusal.
    #[must_use]
    pub const fn reason(&self) -> Reason {
        match self {
            Self::Fault(_) => Reason::InvalidFormat,
            Self::NothingAllowed | Self::NotLoopback | Self::Unlisted(_) => Reason::NotAllowed,
        }
    }
}

/// A part of a URL, in the order of comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UrlPart {
    /// The scheme.
    Scheme,
    /// The host.
    Host,
    /// The port; the scheme's default port equals none.
    Port,
    /// The path; for a custom scheme everything between scheme and query.
    Path,
    /// The query.
    Query,
}

impl RedirectUrl {
    /// Restores a stored target without checks. The list may have changed since: callers run
    /// [`RedirectPolicy::check`] again before a redirect.
    #[must_use]
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The serialised URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Appends form-encoded parameters to the query; the rest of query and fragment is preserved byte for
    /// byte. Parameters with the `own` names are removed first, so that the target cannot forge our result.
    #[must_use]
    pub fn with_query(&self, parameters: &[(&str, &str)], own: &[&str]) -> String {
        let (front, fragment) = self.0.split_at(self.0.find('#').unwrap_or(self.0.len()));
        let (base, query) = front.split_once('?').map_or((front, None), |(base, query)| (base, Some(query)));
        let is_foreign = |pair: &&str| {
            let name = form_urlencoded::parse(pair.as_bytes()).next().map(|(name, _)| name);
            name.is_none_or(|name| !own.contains(&name.as_ref()))
        };
        let sent = query.filter(|query| !query.is_empty());
        let kept = sent.into_iter().flat_map(|query| query.split('&')).filter(is_foreign);
        let added = form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
        let pairs: Vec<_> = kept.chain((!added.is_empty()).then_some(added.as_str())).collect();
        let separator = if pairs.is_empty() && query.is_none() { "" } else { "?" };

        format!("{base}{separator}{}{fragment}", pairs.join("&"))
    }
}

impl fmt::Debug for RedirectUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.find(['?', '#']).unwrap_or(self.0.len());
        write!(f, "RedirectUrl({})", &self.0[..end])
    }
}

impl RedirectPolicy {
    /// Creates a policy of parsed entries.
    #[must_use]
    pub const fn new(entries: Vec<RedirectEntry>, development: DevelopmentLoopback) -> Self {
        Self { entries, development }
    }

    /// Parses the entries of the list; fails with the first invalid one.
    pub fn parse(entries: &[String], development: DevelopmentLoopback) -> Result<Self, InvalidEntry> {
        let entries = entries.iter().map(|text| RedirectEntry::parse(text)).collect::<Result<_, _>>()?;
        Ok(Self::new(entries, development))
    }

    /// True if loopback targets pass because the list is empty in development; the start-up banner tells it.
    #[must_use]
    pub const fn allows_development_loopback(&self) -> bool {
        self.entries.is_empty() && matches!(self.development, DevelopmentLoopback::Allowed)
    }

    /// Checks a target as sent; returns the URL to store and use. Idempotent for its serialised text.
    pub fn check(&self, text: &str) -> Result<RedirectUrl, RedirectRefusal> {
        let url = screen::parse(text)?;

        if self.entries.is_empty() {
            self.check_loopback(text, &url)?;
        } else {
            self.check_listed(&url)?;
        }
        Ok(RedirectUrl(url.into()))
    }

    /// Origins of the http and https entries without wildcards, as in an `Origin` header; unique, sorted.
    /// They are allowed origins for CORS.
    pub fn origins(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(RedirectEntry::origin).collect::<BTreeSet<_>>().into_iter()
    }

    fn check_loopback(&self, text: &str, url: &url::Url) -> Result<(), RedirectRefusal> {
        if self.development == DevelopmentLoopback::Refused {
            return Err(RedirectRefusal::NothingAllowed);
        }
        let is_web = matches!(url.scheme(), "http" | "https");
        // Compared as sent: 127.1, 2130706433 and %6cocalhost parse to the same hosts, but are suspicious.
        let is_loopback = screen::host_as_sent(text)
            .is_some_and(|host| host.eq_ignore_ascii_case("localhost") || host == "127.0.0.1");

        if is_web && is_loopback { Ok(()) } else { Err(RedirectRefusal::NotLoopback) }
    }

    fn check_listed(&self, url: &url::Url) -> Result<(), RedirectRefusal> {
        let mut nearest = UrlPart::Scheme;
        for entry in &self.entries {
            match entry.compare(url) {
                Ok(()) => return Ok(()),
                Err(part) => nearest = nearest.max(part),
            }
        }
        Err(RedirectRefusal::Unlisted(nearest))
    }
}

impl fmt::Display for UrlPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheme => "scheme",
            Self::Host => "host",
            Self::Port => "port",
            Self::Path => "path",
            Self::Query => "query",
        })
    }
}
