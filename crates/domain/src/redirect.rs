//! Allow-list of redirect targets, to which the browser is sent after a mailed link or a sign-in.
//!
//! - `screen`: parses a URL (WHATWG URL Standard), and checks that apply to every URL, listed or not.
//! - `entry`: entries of the allow-list.
//! - `pattern`: hosts and paths with the wildcards `*` and `**`.
//!
//! After parsing, only the parsed URL and its serialised text are used. The exception is a loopback host in
//! development mode, which is compared as sent. The list itself is a setting.

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

/// An allowed redirect target: the serialised text of an absolute URL without user information.
///
/// Input becomes a target only through [`RedirectPolicy::check`]. `Debug` output omits query and fragment, which may
/// contain secrets.
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

/// Allow-list of redirect targets, with the rule for loopback targets while the list is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectPolicy {
    entries: Vec<RedirectEntry>,
    development: DevelopmentLoopback,
    /// Targets of the service itself. They are allowed whatever the list contains.
    own: Vec<RedirectEntry>,
}

/// Rule for loopback targets while the allow-list is empty. Only development mode allows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DevelopmentLoopback {
    /// An empty list allows http and https targets whose host, as sent, is `localhost` or `127.0.0.1`.
    Allowed,
    /// An empty list allows no target.
    Refused,
}

/// Refusal of a redirect target. The message names the violated rule and contains nothing of the URL.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RedirectRefusal {
    /// The URL is never allowed, whatever the list contains.
    #[error("the redirect URL {0}")]
    Fault(#[from] UrlFault),
    /// The allow-list is empty.
    #[error("no redirect URL is allowed: the list of allowed redirect URLs is empty")]
    NothingAllowed,
    /// The allow-list is empty, which allows loopback hosts only, and the host is not a loopback host.
    #[error(
        "the list of allowed redirect URLs is empty, so only http and https URLs on localhost or 127.0.0.1 are allowed"
    )]
    NotLoopback,
    /// No entry matches. In the entry that matches most parts, this part is the first that differs.
    #[error("the redirect URL is not on the list of allowed redirect URLs: its {0} is not allowed there")]
    Unlisted(UrlPart),
}

impl RedirectRefusal {
    /// Returns the reason code of the refusal.
    #[must_use]
    pub const fn reason(&self) -> Reason {
        match self {
            Self::Fault(_) => Reason::InvalidFormat,
            Self::NothingAllowed | Self::NotLoopback | Self::Unlisted(_) => Reason::NotAllowed,
        }
    }
}

/// A part of a URL, in the order in which [`RedirectPolicy::check`] compares them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UrlPart {
    /// The scheme, such as `https`.
    Scheme,
    /// The host name or IP address.
    Host,
    /// The port. A missing port equals the default port of the scheme.
    Port,
    /// The path. In a URL with a custom scheme, everything between scheme and query.
    Path,
    /// The query, without `?`.
    Query,
}

impl RedirectUrl {
    /// Restores a stored target without a check. The allow-list may have changed since, so callers must run
    /// [`RedirectPolicy::check`] before a redirect.
    #[must_use]
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// Returns the serialised URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the URL with form-encoded parameters appended to its query, and otherwise unchanged. Parameters named in
    /// `own` are removed first, so that a target cannot contain forged results of the service.
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
    /// Creates a policy from parsed entries.
    #[must_use]
    pub const fn new(entries: Vec<RedirectEntry>, development: DevelopmentLoopback) -> Self {
        Self { entries, development, own: Vec::new() }
    }

    /// Also allows targets of the service itself, which are not in the list of the operator.
    #[must_use]
    pub fn with_own(mut self, own: Vec<RedirectEntry>) -> Self {
        self.own = own;
        self
    }

    /// Parses the entries of the allow-list; fails with the first invalid one.
    pub fn parse(entries: &[String], development: DevelopmentLoopback) -> Result<Self, InvalidEntry> {
        let entries = entries.iter().map(|text| RedirectEntry::parse(text)).collect::<Result<_, _>>()?;
        Ok(Self::new(entries, development))
    }

    /// True if loopback targets are allowed: the list is empty, in development mode. The start-up banner reports this.
    #[must_use]
    pub const fn allows_development_loopback(&self) -> bool {
        self.entries.is_empty() && matches!(self.development, DevelopmentLoopback::Allowed)
    }

    /// Checks a target as sent by a client. Returns the URL to store and use. A check of that URL has the same result.
    pub fn check(&self, text: &str) -> Result<RedirectUrl, RedirectRefusal> {
        let url = screen::parse(text)?;

        if self.own.iter().any(|entry| entry.compare(&url).is_ok()) {
            return Ok(RedirectUrl(url.into()));
        }
        screen::refuse_long(text, &url)?;
        if self.entries.is_empty() {
            self.check_loopback(text, &url)?;
        } else {
            self.check_listed(&url)?;
        }
        Ok(RedirectUrl(url.into()))
    }

    /// Returns the entry that allows a checked target; `None` for a loopback target in development.
    #[must_use]
    pub fn entry_for(&self, target: &RedirectUrl) -> Option<&RedirectEntry> {
        let url = screen::parse(target.as_str()).ok()?;
        self.own.iter().chain(&self.entries).find(|entry| entry.compare(&url).is_ok())
    }

    /// Returns the origins of the http and https entries without wildcards, as in an `Origin` header; sorted, without
    /// duplicates. They are also allowed origins for CORS.
    pub fn origins(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(RedirectEntry::origin).collect::<BTreeSet<_>>().into_iter()
    }

    fn check_loopback(&self, text: &str, url: &url::Url) -> Result<(), RedirectRefusal> {
        if self.development == DevelopmentLoopback::Refused {
            return Err(RedirectRefusal::NothingAllowed);
        }
        let is_web = matches!(url.scheme(), "http" | "https");
        // Compared as sent: 127.1, 2130706433 and %6cocalhost are parsed as loopback hosts too, but are suspicious.
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
