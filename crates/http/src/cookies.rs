//! The service's cookies: names and attributes (RFC 6265bis), reading and writing. Use cases verify the values.

use std::sync::Arc;
use std::time::Duration;

use http::header::{COOKIE, InvalidHeaderValue};
use http::{HeaderMap, HeaderValue};

use crate::settings::HttpSettings;

/// Name prefix that makes browsers reject the cookie unless it is `Secure`.
const SECURE_PREFIX: &str = "__Secure-";
/// Name prefix that also demands `Path=/` and no `Domain`, so that no other host can set the cookie.
const HOST_PREFIX: &str = "__Host-";

/// The value of a cookie, not yet verified. It has no `Debug`, which keeps it out of logs.
#[derive(Clone, PartialEq, Eq)]
pub struct CookieValue(String);

impl CookieValue {
    /// Returns the secret text, for verification.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Name and attributes of a cookie. It never has a `Domain`, so only this host receives it.
#[derive(Debug, Clone)]
pub struct Cookie {
    name: Arc<str>,
    path: &'static str,
    is_secure: bool,
    is_http_only: bool,
    same_site: &'static str,
}

impl Cookie {
    /// Describes the refresh cookie. It is `SameSite=Lax`, or `SameSite=None` if the apps are on other sites; browsers
    /// accept `None` only with `Secure`.
    #[must_use]
    pub fn refresh(settings: &HttpSettings) -> Self {
        let lax = Self::new(settings, "", "/api/auth");
        let crosses_sites = settings.cross_site_apps && lax.is_secure;
        Self { same_site: if crosses_sites { "None" } else { "Lax" }, ..lax }
    }

    /// Describes the cookie that binds OAuth flows to the browser that started them; one cookie for all flows of a
    /// browser. Browsers must send it when a provider on another site redirects back, so it is always `SameSite=Lax`.
    #[must_use]
    pub fn oauth(settings: &HttpSettings) -> Self {
        Self::new(settings, "_oauth", "/api/auth/oauth")
    }

    /// Describes the cookie that a sign-up sets in its browser. A verification link that is opened in another browser
    /// may remove the password, sessions and profile of the new account; with this cookie it keeps them. The cookie is
    /// no credential, so it need not be `HttpOnly`: existing clients expect no `HttpOnly` cookie before verification.
    #[must_use]
    pub fn sign_up(settings: &HttpSettings) -> Self {
        Self { is_http_only: false, ..Self::new(settings, "_signup", "/api/auth/email") }
    }

    /// Describes a cookie of the hosted pages: for the whole host, `HttpOnly` and `SameSite=Lax`.
    #[must_use]
    pub fn of_pages(settings: &HttpSettings, name: &str) -> Self {
        Self::named(settings, HOST_PREFIX, name, "/")
    }

    /// Describes the cookie of console sessions: like [`Self::of_pages`], but no other site's link or form sends it.
    #[must_use]
    pub fn of_console(settings: &HttpSettings, name: &str) -> Self {
        Self { same_site: "Strict", ..Self::of_pages(settings, name) }
    }

    fn new(settings: &HttpSettings, suffix: &str, path: &'static str) -> Self {
        Self::named(settings, SECURE_PREFIX, &format!("{}{suffix}", settings.cookie_name), path)
    }

    /// Builds a cookie. It is `Secure`, except in development at an http address. In that case its name contains the
    /// port in place of the prefix: cookies ignore ports, so two services on one host would overwrite each other's
    /// cookies.
    fn named(settings: &HttpSettings, prefix: &str, name: &str, path: &'static str) -> Self {
        let is_secure = settings.is_https() || !settings.development;
        let port = settings.public_url.port_or_known_default().unwrap_or(80);
        let name = if is_secure { format!("{prefix}{name}") } else { format!("{name}_{port}") };
        Self { name: name.into(), path, is_secure, is_http_only: true, same_site: "Lax" }
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the cookie's value in a request; `None` if the request has no cookie of this name, or several with
    /// different values.
    ///
    /// Another host of the same parent domain can set a cookie of this name for that domain, and nothing in the request
    /// tells which value is ours. Using either value would let that host sign a visitor in to an attacker's session.
    #[must_use]
    pub fn read(&self, headers: &HeaderMap) -> Option<CookieValue> {
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let mut values = pairs.filter(|(name, _)| *name == &*self.name).map(|(_, value)| value);
        let first = values.next()?;
        if first.is_empty() || values.any(|other| other != first) {
            return None;
        }
        Some(CookieValue(first.to_owned()))
    }

    /// Builds the `Set-Cookie` that stores `value` for `max_age` (whole seconds, rounded down).
    pub fn set(&self, value: &str, max_age: Duration) -> Result<HeaderValue, InvalidHeaderValue> {
        self.header(value, Some(max_age.as_secs()))
    }

    /// Builds the `Set-Cookie` that stores `value` until the browser is closed.
    pub fn set_until_closed(&self, value: &str) -> Result<HeaderValue, InvalidHeaderValue> {
        self.header(value, None)
    }

    /// Builds the `Set-Cookie` that removes the cookie.
    pub fn clear(&self) -> Result<HeaderValue, InvalidHeaderValue> {
        self.header("", Some(0))
    }

    fn header(&self, value: &str, max_age: Option<u64>) -> Result<HeaderValue, InvalidHeaderValue> {
        let Self { name, path, same_site, .. } = self;
        let http_only = if self.is_http_only { "; HttpOnly" } else { "" };
        let secure = if self.is_secure { "; Secure" } else { "" };
        let max_age = max_age.map(|seconds| format!("; Max-Age={seconds}")).unwrap_or_default();
        let text = format!("{name}={value}; Path={path}{max_age}{http_only}{secure}; SameSite={same_site}");
        let mut header = HeaderValue::from_str(&text)?;
        header.set_sensitive(true); // kept out of Debug output, and out of HTTP/2 header tables
        Ok(header)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn refresh(public_url: &str, development: bool, cross_site_apps: bool) -> Cookie {
        let settings = HttpSettings::new(public_url.parse().unwrap(), development);
        Cookie::refresh(&HttpSettings { cross_site_apps, ..settings })
    }

    fn read(lines: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(COOKIE, HeaderValue::from_str(line).unwrap());
        }
        let cookie = refresh("https://id.example.org", false, false).read(&headers);
        cookie.map(|cookie| cookie.expose().to_owned())
    }

    #[test]
    fn cookie_has_the_attributes_of_the_policy() {
        let header =
            refresh("https://id.example.org", false, false).set("abc", Duration::from_mins(1)).unwrap();
        let wanted =
            "__Secure-latchkey_refresh=abc; Path=/api/auth; Max-Age=60; HttpOnly; Secure; SameSite=Lax";
        assert_eq!(header, wanted);
        assert!(header.is_sensitive());
    }

    #[test]
    fn cross_site_apps_get_same_site_none() {
        let header =
            refresh("https://id.example.org", false, true).set("abc", Duration::from_mins(1)).unwrap();
        assert!(header.to_str().unwrap().ends_with("; Secure; SameSite=None"));
    }

    #[test]
    fn only_development_over_http_goes_without_secure() {
        let header = refresh("http://localhost:8700", true, true).set("abc", Duration::from_mins(1)).unwrap();
        assert_eq!(header, "latchkey_refresh_8700=abc; Path=/api/auth; Max-Age=60; HttpOnly; SameSite=Lax");
        for (public_url, development) in [("http://localhost:8700", false), ("https://localhost:8700", true)]
        {
            let cookie = refresh(public_url, development, false);
            assert_eq!(cookie.name(), "__Secure-latchkey_refresh", "{public_url}");
            assert!(cookie.clear().unwrap().to_str().unwrap().contains("; Secure;"), "{public_url}");
        }
    }

    #[test]
    fn oauth_cookie_is_named_after_the_refresh_cookie_and_always_lax() {
        let oauth = |public_url: &str, development| {
            let settings = HttpSettings::new(public_url.parse().unwrap(), development);
            let cookie = Cookie::oauth(&HttpSettings { cross_site_apps: true, ..settings });
            cookie.set("abc", Duration::from_mins(10)).unwrap().to_str().unwrap().to_owned()
        };
        let attributes = "=abc; Path=/api/auth/oauth; Max-Age=600; HttpOnly";
        assert_eq!(
            oauth("https://id.example.org", false),
            format!("__Secure-latchkey_refresh_oauth{attributes}; Secure; SameSite=Lax")
        );
        assert_eq!(
            oauth("http://localhost:8700", true),
            format!("latchkey_refresh_oauth_8700{attributes}; SameSite=Lax")
        );
    }

    #[test]
    fn sign_up_cookie_is_for_the_links_of_mails_and_may_be_read() {
        let sign_up = |public_url: &str, development| {
            let settings = HttpSettings::new(public_url.parse().unwrap(), development);
            let cookie = Cookie::sign_up(&HttpSettings { cross_site_apps: true, ..settings });
            cookie.set("abc", Duration::from_hours(24)).unwrap().to_str().unwrap().to_owned()
        };
        let attributes = "=abc; Path=/api/auth/email; Max-Age=86400";
        assert_eq!(
            sign_up("https://id.example.org", false),
            format!("__Secure-latchkey_refresh_signup{attributes}; Secure; SameSite=Lax")
        );
        assert_eq!(
            sign_up("http://localhost:8700", true),
            format!("latchkey_refresh_signup_8700{attributes}; SameSite=Lax")
        );
    }

    #[test]
    fn cookie_of_pages_is_for_this_host_alone() {
        let pages = |public_url: &str, development| {
            let settings = HttpSettings::new(public_url.parse().unwrap(), development);
            let cookie = Cookie::of_pages(&settings, "latchkey_browser");
            cookie.set_until_closed("abc").unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(
            pages("https://id.example.org", false),
            "__Host-latchkey_browser=abc; Path=/; HttpOnly; Secure; SameSite=Lax"
        );
        assert_eq!(
            pages("http://localhost:8700", true),
            "latchkey_browser_8700=abc; Path=/; HttpOnly; SameSite=Lax"
        );
    }

    #[test]
    fn cookie_of_the_console_is_sent_by_its_own_pages_alone() {
        let settings = HttpSettings::new("https://id.example.org".parse().unwrap(), false);
        let cookie = Cookie::of_console(&settings, "latchkey_console").set_until_closed("abc").unwrap();
        assert_eq!(cookie, "__Host-latchkey_console=abc; Path=/; HttpOnly; Secure; SameSite=Strict");
    }

    #[test]
    fn port_in_development_is_the_one_of_the_public_url() {
        for (public_url, wanted) in [
            ("http://localhost", "latchkey_refresh_80"),
            ("http://localhost:80", "latchkey_refresh_80"),
            ("http://[::1]:8701", "latchkey_refresh_8701"),
        ] {
            assert_eq!(refresh(public_url, true, false).name(), wanted);
        }
    }

    #[test]
    fn name_of_the_settings_comes_between_prefix_and_port() {
        let named = |public_url: &str, development| {
            let settings = HttpSettings::new(public_url.parse().unwrap(), development);
            Cookie::refresh(&HttpSettings { cookie_name: "shop".to_owned(), ..settings })
        };
        assert_eq!(named("https://id.example.org:8443", false).name(), "__Secure-shop");
        assert_eq!(named("http://localhost:8700", true).name(), "shop_8700");
    }

    #[test]
    fn clearing_has_the_same_name_and_path() {
        let header = refresh("https://id.example.org", false, false).clear().unwrap();
        assert_eq!(
            header,
            "__Secure-latchkey_refresh=; Path=/api/auth; Max-Age=0; HttpOnly; Secure; SameSite=Lax"
        );
    }

    #[test]
    fn cookie_is_found_among_others() {
        assert_eq!(read(&["a=b; __Secure-latchkey_refresh=tok; c"]).as_deref(), Some("tok"));
        assert_eq!(read(&["a=b", "__Secure-latchkey_refresh=tok"]).as_deref(), Some("tok"));
        assert_eq!(read(&["latchkey_refresh=tok; x__Secure-latchkey_refresh=tok"]), None);
        assert_eq!(read(&["__Secure-latchkey_refresh="]), None);
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn two_different_cookies_are_none() {
        assert_eq!(read(&["__Secure-latchkey_refresh=a; __Secure-latchkey_refresh=b"]), None);
        assert_eq!(read(&["__Secure-latchkey_refresh=a", "__Secure-latchkey_refresh=b"]), None);
        assert_eq!(read(&["__Secure-latchkey_refresh=a; __Secure-latchkey_refresh=a"]).as_deref(), Some("a"));
    }

    #[test]
    fn token_cannot_break_out_of_the_header() {
        let cookie = refresh("https://id.example.org", false, false);
        assert!(cookie.set("a\r\nSet-Cookie: x=y", Duration::ZERO).is_err());
    }
}
