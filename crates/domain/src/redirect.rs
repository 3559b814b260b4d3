//! Redirect targets: which URLs a browser may be sent to after a link or a sign-in.
//!
//! - `screen`: what is refused of every URL, listed or not, and the one WHATWG parse.
//! - `entry`: the entries of the list.
//! - `pattern`: hosts and paths with `*` and `**`.
//!
//! Everything after the parse works on the parsed URL and its serialised text; nothing looks at the text as sent
//! again, but for the loopback hosts of development. The list itself is a setting and lives elsewhere.

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

/// A URL that the redirect list allows: the serialised text of the parsed URL, absolute, without user-info.
///
/// Only [`RedirectPolicy::check`] makes one. `Debug` leaves out query and fragment, which may carry secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct RedirectUrl(String);

/// The list of allowed redirect targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectPolicy {
    entries: Vec<RedirectEntry>,
    development: DevelopmentLoopback,
}

/// Whether an empty list lets targets on `localhost` and `127.0.0.1` pass. Only development mode allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DevelopmentLoopback {
    /// While the list is empty, http and https targets whose host as sent reads `localhost` or `127.0.0.1` pass.
    Allowed,
    /// An empty list lets nothing pass.
    Refused,
}

/// Why a redirect target was refused. The text names the rule and repeats nothing of the URL.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RedirectRefusal {
    /// The URL is refused whatever the list says.
    #[error("the redirect URL {0}")]
    Fault(#[from] UrlFault),
    /// The list is empty.
    #[error("no redirect URL is allowed: the list of allowed redirect URLs is empty")]
    NothingAllowed,
    /// The list is empty, and in development only loopback hosts pass.
    #[error(
        "the list of allowed redirect URLs is empty, so only http and https URLs on localhost or 127.0.0.1 are allowed"
    )]
    NotLoopback,
    /// No entry of the list matches; the nearest one differs first in this part.
    #[error("the redirect URL is not on the list of allowed redirect URLs: its {0} is not allowed there")]
    Unlisted(UrlPart),
}

impl RedirectRefusal {
    /// The refusal as a reason.
    #[must_use]
    pub const fn reason(&self) -> Reason {
        match self {
            Self::Fault(_) => Reason::InvalidFormat,
            Self::NothingAllowed | Self::NotLoopback | Self::Unlisted(_) => Reason::NotAllowed,
        }
    }
}

/// A part of a URL that is compared with the list, in the order of comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UrlPart {
    /// The scheme.
    Scheme,
    /// The host.
    Host,
    /// The port, where the default port of the scheme equals none.
    Port,
    /// The path; with a custom scheme everything between scheme and query.
    Path,
    /// The query.
    Query,
}

impl RedirectUrl {
    /// Takes back text that [`RedirectUrl::as_str`] gave and that was stored since.
    ///
    /// Nothing is checked here. The list may have changed in between: whoever sends a browser there
    /// runs [`RedirectPolicy::check`] again.
    #[must_use]
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The serialised URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The URL with parameters appended to its query, form-encoded. What else stands in the query and the fragment
    /// survives byte for byte. Parameters of the `own` names are taken out first: whoever chose the target must not
    /// say in our name how a link went.
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
    /// A policy of entries that are already parsed.
    #[must_use]
    pub const fn new(entries: Vec<RedirectEntry>, development: DevelopmentLoopback) -> Self {
        Self { entries, development }
    }

    /// Parses the entries of the list as the operator wrote them. The first bad one is the error.
    pub fn parse(entries: &[String], development: DevelopmentLoopback) -> Result<Self, InvalidEntry> {
        let entries = entries.iter().map(|text| RedirectEntry::parse(text)).collect::<Result<_, _>>()?;
        Ok(Self::new(entries, development))
    }

    /// Whether loopback targets pass because the list is empty in development; the start-up banner says so.
    #[must_use]
    pub const fn allows_development_loopback(&self) -> bool {
        self.entries.is_empty() && matches!(self.development, DevelopmentLoopback::Allowed)
    }

    /// Checks a target as sent and gives the URL to store and to use.
    ///
    /// A URL that passed passes again in its serialised text, as long as the list is the same.
    pub fn check(&self, text: &str) -> Result<RedirectUrl, RedirectRefusal> {
        let url = screen::parse(text)?;

        if self.entries.is_empty() {
            self.check_loopback(text, &url)?;
        } else {
            self.check_listed(&url)?;
        }
        Ok(RedirectUrl(url.into()))
    }

    /// The http and https origins of the entries without a wildcard, as a browser writes an `Origin` header;
    /// each once, sorted. They are known origins for CORS.
    pub fn origins(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(RedirectEntry::origin).collect::<BTreeSet<_>>().into_iter()
    }

    fn check_loopback(&self, text: &str, url: &url::Url) -> Result<(), RedirectRefusal> {
        if self.development == DevelopmentLoopback::Refused {
            return Err(RedirectRefusal::NothingAllowed);
        }
        let is_web = matches!(url.scheme(), "http" | "https");
        // As sent: 127.1, 2130706433 and %6cocalhost parse to the same hosts, but nobody writes them in good faith.
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
