//! The relying party of passkeys (WebAuthn section 4): the domain that they belong to, and the origins that may ask for
//! them.

use latchkey_domain::passkey::RpId;
use latchkey_domain::redirect::RedirectPolicy;
use url::{Host, Url};

/// The relying party: its id, and the origins whose pages and apps may register and use its passkeys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RelyingParty {
    /// The relying party id, a domain in lower case; `None` if the host of `server.public_url` is an IP address. There
    /// are no passkeys then.
    pub id: Option<RpId>,
    /// The origins in the settings. If there are none, those of [`Self::cors_origins`] and of redirect URLs are
    /// accepted.
    pub origins: Vec<String>,
    /// The service's own origin and `server.cors_origins`. The origins of allowed redirect URLs are added at each use,
    /// because an admin can change them.
    pub cors_origins: Vec<String>,
    /// True in development mode: while no origins are configured, every port of `http://localhost` is accepted.
    pub any_localhost: bool,
}

impl RelyingParty {
    /// True if a ceremony at this origin is accepted. Origins are compared byte by byte.
    #[must_use]
    pub fn accepts(&self, origin: &str, redirects: &RedirectPolicy) -> bool {
        let is_known = |mut known: Box<dyn Iterator<Item = &str> + '_>| known.any(|known| known == origin);
        is_known(self.origins(redirects))
            || (self.any_localhost && self.origins.is_empty() && is_localhost_with_port(origin))
    }

    /// Returns the https origins whose host is neither the relying party id nor below it. Only browsers with Related
    /// Origin Requests (WebAuthn section 5.11) use passkeys there.
    #[must_use]
    pub fn related_origins(&self, redirects: &RedirectPolicy) -> Vec<String> {
        let Some(id) = &self.id else { return Vec::new() };
        let is_related = |origin: &&str| {
            let host = origin.strip_prefix("https://").and_then(|_| Url::parse(origin).ok());
            host.is_some_and(|url| !is_at_or_below(url.host_str().unwrap_or_default(), id.as_str()))
        };
        let mut related: Vec<_> = self.origins(redirects).filter(is_related).map(str::to_owned).collect();
        related.sort_unstable();
        related.dedup();
        related
    }

    fn origins<'a>(&'a self, redirects: &'a RedirectPolicy) -> Box<dyn Iterator<Item = &'a str> + 'a> {
        if !self.origins.is_empty() {
            return Box::new(self.origins.iter().map(String::as_str));
        }
        let known = self.cors_origins.iter().map(String::as_str).chain(redirects.origins());
        Box::new(known.filter(|origin| has_webauthn(origin)))
    }
}

/// True if browsers offer WebAuthn at a web origin: its scheme is https, or http on localhost, and its host is a domain.
#[must_use]
pub fn has_webauthn(origin: &str) -> bool {
    let Ok(url) = Url::parse(origin) else { return false };
    match (url.scheme(), url.host()) {
        ("https", Some(Host::Domain(_))) => true,
        ("http", Some(Host::Domain(domain))) => is_at_or_below(domain, "localhost"),
        _ => false,
    }
}

/// True if `host` is `domain` or one of its subdomains.
#[must_use]
pub fn is_at_or_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|front| front.is_empty() || front.ends_with('.'))
}

/// True for `http://localhost` with or without a port, and nothing after it.
fn is_localhost_with_port(origin: &str) -> bool {
    let port = origin.strip_prefix("http://localhost").map(|rest| (rest, rest.strip_prefix(':')));
    match port {
        Some(("", _)) => true,
        Some((_, Some(port))) => (1..=5).contains(&port.len()) && port.bytes().all(|c| c.is_ascii_digit()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use latchkey_domain::redirect::DevelopmentLoopback;

    use super::*;

    fn redirects(entries: &[&str]) -> RedirectPolicy {
        let entries: Vec<_> = entries.iter().map(|&entry| entry.to_owned()).collect();
        RedirectPolicy::parse(&entries, DevelopmentLoopback::Refused).unwrap()
    }

    fn party(origins: &[&str]) -> RelyingParty {
        RelyingParty {
            id: Some(RpId::new("example.com")),
            origins: origins.iter().map(|&origin| origin.to_owned()).collect(),
            cors_origins: [
                "https://accounts.example.com",
                "http://intranet.example.com",
                "tauri://localhost",
            ]
            .map(str::to_owned)
            .to_vec(),
            any_localhost: false,
        }
    }

    #[test]
    fn origins_known_to_cors_are_accepted_if_browsers_offer_passkeys_there() {
        let redirects =
            redirects(&["https://app.example.com/done", "https://*.example.com/", "http://localhost:3000/"]);
        for (origin, is_accepted) in [
            ("https://accounts.example.com", true),
            ("https://app.example.com", true),
            ("http://localhost:3000", true),
            ("http://localhost:3001", false),
            ("http://intranet.example.com", false),
            ("tauri://localhost", false),
            ("https://x.example.com", false),
            ("https://accounts.example.com:8443", false),
            ("https://accounts.example.com/", false),
            ("HTTPS://accounts.example.com", false),
            ("null", false),
            ("", false),
        ] {
            assert_eq!(party(&[]).accepts(origin, &redirects), is_accepted, "{origin}");
        }
    }

    #[test]
    fn configured_origins_replace_those_known_to_cors() {
        let android = "android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLck";
        let party = RelyingParty { any_localhost: true, ..party(&["https://example.com", android]) };
        let redirects = redirects(&[]);
        assert!(party.accepts("https://example.com", &redirects) && party.accepts(android, &redirects));
        assert!(!party.accepts("https://accounts.example.com", &redirects));
        assert!(!party.accepts("http://localhost:3000", &redirects));
    }

    #[test]
    fn development_accepts_every_port_of_localhost() {
        let party = RelyingParty { any_localhost: true, ..party(&[]) };
        for (origin, is_accepted) in [
            ("http://localhost", true),
            ("http://localhost:5173", true),
            ("http://localhost:", false),
            ("http://localhost:1@evil", false),
            ("http://localhost.evil.example", false),
            ("http://127.0.0.1:5173", false),
            ("https://localhost:5173", false),
        ] {
            assert_eq!(party.accepts(origin, &redirects(&[])), is_accepted, "{origin}");
        }
    }

    #[test]
    fn related_origins_are_outside_of_the_relying_party_id() {
        let party = party(&[
            "https://example.com",
            "https://app.example.com:8443",
            "https://example.net",
            "https://notexample.com",
            "https://example.com.evil.net",
            "https://example.net",
            "http://localhost:3000",
            "android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLck",
        ]);
        assert_eq!(
            party.related_origins(&redirects(&[])),
            ["https://example.com.evil.net", "https://example.net", "https://notexample.com"]
        );
        assert!(RelyingParty { id: None, ..party }.related_origins(&redirects(&[])).is_empty());
    }
}
