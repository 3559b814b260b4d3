//! The origin policy: the origins whose web pages may call the service, and the check that a call with a cookie comes
//! from one of them. The CORS response headers are in [`crate::cors`].

use std::sync::Arc;

use http::header::ORIGIN;
use http::{HeaderMap, HeaderValue};

use crate::client::SEC_FETCH_SITE;
use crate::error::{ApiError, Result, codes};
use crate::settings::HttpSettings;

/// The origins in the settings: `server.cors_origins` and the origins of `allowed_redirect_urls`. The list is read at
/// every request, because an admin can change it. A closure `Fn(&str) -> bool` implements the trait.
pub trait AllowedOrigins: Send + Sync {
    /// True if the list contains the origin, as browsers write it (RFC 6454 section 6.2).
    fn contains(&self, origin: &str) -> bool;
}

impl<F: Fn(&str) -> bool + Send + Sync> AllowedOrigins for F {
    fn contains(&self, origin: &str) -> bool {
        self(origin)
    }
}

/// The allowed origins: those of the settings, the service's own, and in development `http://localhost` and
/// `http://127.0.0.1` with any port. The origin `null` is never allowed.
#[derive(Clone)]
pub struct OriginPolicy {
    own: Arc<str>,
    development: bool,
    listed: Arc<dyn AllowedOrigins>,
}

impl OriginPolicy {
    #[must_use]
    pub fn new(settings: &HttpSettings, listed: Arc<dyn AllowedOrigins>) -> Self {
        Self { own: settings.public_origin().into(), development: settings.development, listed }
    }

    /// True if the value of an `Origin` header is allowed.
    #[must_use]
    pub fn allows(&self, origin: &str) -> bool {
        if origin == "null" {
            return false;
        }
        origin == &*self.own || (self.development && is_local(origin)) || self.listed.contains(origin)
    }

    /// Returns the `Origin` of a request, if it occurs exactly once and is allowed.
    pub(crate) fn allowed_of<'a>(&self, headers: &'a HeaderMap) -> Option<&'a HeaderValue> {
        let origin = only(headers)?;
        origin.to_str().is_ok_and(|text| self.allows(text)).then_some(origin)
    }

    /// Checks a call with the refresh cookie, in addition to the CSRF token. Its `Origin` must be allowed; without
    /// `Origin`, `Sec-Fetch-Site` must not be `cross-site`. 403 `FORBIDDEN` otherwise. Clients other than browsers send
    /// neither header and pass.
    pub fn check(&self, headers: &HeaderMap) -> Result<()> {
        let is_cross_site = || headers.get_all(SEC_FETCH_SITE).iter().any(|site| site == "cross-site");
        let passes =
            if headers.contains_key(ORIGIN) { self.allowed_of(headers).is_some() } else { !is_cross_site() };
        if passes { Ok(()) } else { Err(refusal()) }
    }

    /// Checks that a form was sent by a page of this service. If the browser sends `Sec-Fetch-Site`, it must be
    /// `same-origin`; if it sends `Origin`, it must be this service's, or `null`, which browsers send for a page
    /// without referrer. 403 `FORBIDDEN` otherwise.
    pub(crate) fn check_own_form(&self, headers: &HeaderMap) -> Result<()> {
        let is_own_site = headers.get_all(SEC_FETCH_SITE).iter().all(|site| site == "same-origin");
        let is_own_origin =
            headers.get_all(ORIGIN).iter().all(|origin| origin == &*self.own || origin == "null");
        if is_own_site && is_own_origin { Ok(()) } else { Err(refusal()) }
    }
}

/// Builds the 403 for an origin that is not allowed.
pub(crate) fn refusal() -> ApiError {
    ApiError::new(&codes::FORBIDDEN, "Requests from this origin are not allowed.").next_action(
        "Call from an allowed origin, or ask the operator to add this one to `server.cors_origins`.",
    )
}

/// Returns the `Origin` of a request, if it occurs exactly once.
fn only(headers: &HeaderMap) -> Option<&HeaderValue> {
    let mut values = headers.get_all(ORIGIN).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => Some(value),
        _ => None,
    }
}

/// True for `http://localhost` and `http://127.0.0.1`, with or without a port and nothing after it.
fn is_local(origin: &str) -> bool {
    let rest = ["http://localhost", "http://127.0.0.1"].iter().find_map(|start| origin.strip_prefix(start));
    match rest {
        Some("") => true,
        Some(rest) => rest.strip_prefix(':').is_some_and(is_port),
        None => false,
    }
}

/// True for one to five digits.
fn is_port(text: &str) -> bool {
    (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn origins(development: bool) -> OriginPolicy {
        let settings = HttpSettings::new("https://id.example.org:443/".parse().unwrap(), development);
        OriginPolicy::new(
            &settings,
            Arc::new(|origin: &str| origin == "https://app.example.org" || origin == "null"),
        )
    }

    fn check(headers: &[(&'static str, &'static str)]) -> bool {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_static(value));
        }
        origins(false).check(&map).is_ok()
    }

    #[test]
    fn own_and_listed_origins_are_known() {
        assert!(origins(false).allows("https://id.example.org"));
        assert!(origins(false).allows("https://app.example.org"));
        for origin in [
            "https://evil.example",
            "http://app.example.org",
            "https://app.example.org:8443",
            "https://app.example.org.evil.example",
            "HTTPS://APP.EXAMPLE.ORG",
            "",
            "null",
        ] {
            assert!(!origins(false).allows(origin), "{origin}");
        }
    }

    #[test]
    fn local_origins_are_known_in_development_alone() {
        for origin in ["http://localhost:3000", "http://127.0.0.1:65535", "http://localhost"] {
            assert!(origins(true).allows(origin), "{origin}");
            assert!(!origins(false).allows(origin), "{origin}");
        }
        for origin in [
            "https://localhost:3000",
            "http://localhost.evil.example",
            "http://localhost:80.evil.example",
            "http://localhost:",
            "http://127.0.0.10",
            "http://localhost:1@evil",
            "null",
        ] {
            assert!(!origins(true).allows(origin), "{origin}");
        }
    }

    #[test]
    fn known_origin_passes_even_from_another_site() {
        assert!(check(&[("origin", "https://app.example.org"), ("sec-fetch-site", "cross-site")]));
        assert!(check(&[("origin", "https://id.example.org"), ("sec-fetch-site", "same-origin")]));
    }

    #[test]
    fn foreign_origin_is_refused_whatever_the_browser_says() {
        assert!(!check(&[("origin", "https://evil.example"), ("sec-fetch-site", "same-origin")]));
        assert!(!check(&[("origin", "null")]));
        assert!(!check(&[("origin", "https://app.example.org"), ("origin", "https://evil.example")]));
    }

    #[test]
    fn cross_site_without_an_origin_is_refused() {
        assert!(!check(&[("sec-fetch-site", "cross-site")]));
        assert!(check(&[("sec-fetch-site", "same-site")]));
        assert!(check(&[("sec-fetch-site", "none")]));
    }

    #[test]
    fn own_form_comes_from_an_own_page() {
        let check = |headers: &[(&'static str, &'static str)]| {
            let headers = headers
                .iter()
                .map(|(name, value)| (http::HeaderName::from_static(name), HeaderValue::from_static(value)));
            origins(false).check_own_form(&headers.collect()).is_ok()
        };
        assert!(check(&[("origin", "null"), ("sec-fetch-site", "same-origin")]) && check(&[]));
        assert!(check(&[("origin", "https://id.example.org")]));
        assert!(!check(&[("origin", "https://app.example.org")]));
        assert!(!check(&[("origin", "null"), ("sec-fetch-site", "cross-site")]));
        assert!(!check(&[("sec-fetch-site", "same-site")]));
    }

    #[test]
    fn programs_without_these_headers_pass() {
        assert!(check(&[]));
    }
}
