//! The refresh cookie: its name and attributes (RFC 6265bis), reading and writing. What the token in it is worth is
//! not known here.

use std::time::Duration;

use http::header::{COOKIE, InvalidHeaderValue};
use http::{HeaderMap, HeaderValue};

use crate::settings::HttpSettings;

/// The name where the cookie is `Secure`; the prefix makes browsers insist on it.
const SECURE_NAME: &str = "__Secure-latchkey_refresh";
/// The name in development over plain http.
const PLAIN_NAME: &str = "latchkey_refresh";

/// The value of the refresh cookie. Not verified, no Debug.
#[derive(Clone, PartialEq, Eq)]
pub struct RefreshCookie(String);

impl RefreshCookie {
    /// The text, for the refresh.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// How the refresh cookie is written and read under the settings.
#[derive(Debug, Clone, Copy)]
pub struct RefreshCookies {
    name: &'static str,
    is_secure: bool,
    same_site: &'static str,
}

impl RefreshCookies {
    /// `Secure` unless the service runs in development under an http address; `SameSite=Lax`, or `None` for apps on
    /// other sites. Browsers take `None` only together with `Secure`.
    #[must_use]
    pub fn new(settings: &HttpSettings) -> Self {
        let is_secure = settings.is_https() || !settings.development;
        Self {
            name: if is_secure { SECURE_NAME } else { PLAIN_NAME },
            is_secure,
            same_site: if settings.cross_site_apps && is_secure { "None" } else { "Lax" },
        }
    }

    /// The cookie's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The refresh cookie of a request.
    ///
    /// Given twice with different values it counts as missing: a host beside ours can set a cookie of this name for
    /// the common parent domain, and neither order nor name tells which is ours. Taking one of them would let that
    /// host put its own session under a visitor. The same value twice is one cookie.
    #[must_use]
    pub fn read(&self, headers: &HeaderMap) -> Option<RefreshCookie> {
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let mut values = pairs.filter(|(name, _)| *name == self.name).map(|(_, value)| value);
        let first = values.next()?;
        if first.is_empty() || values.any(|other| other != first) {
            return None;
        }
        Some(RefreshCookie(first.to_owned()))
    }

    /// `Set-Cookie` that stores `token` for `max_age` (whole seconds, rounded down).
    pub fn set(&self, token: &str, max_age: Duration) -> Result<HeaderValue, InvalidHeaderValue> {
        self.header(token, max_age.as_secs())
    }

    /// `Set-Cookie` that removes the cookie.
    pub fn clear(&self) -> Result<HeaderValue, InvalidHeaderValue> {
        self.header("", 0)
    }

    fn header(&self, value: &str, max_age: u64) -> Result<HeaderValue, InvalidHeaderValue> {
        let Self { name, same_site, .. } = self;
        let secure = if self.is_secure { "; Secure" } else { "" };
        let text = format!(
            "{name}={value}; Path=/api/auth; Max-Age={max_age}; HttpOnly{secure}; SameSite={same_site}"
        );
        let mut header = HeaderValue::from_str(&text)?;
        header.set_sensitive(true); // kept out of Debug output, and out of HTTP/2 header tables
        Ok(header)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn cookies(public_url: &str, development: bool, cross_site_apps: bool) -> RefreshCookies {
        let settings = HttpSettings::new(public_url.parse().unwrap(), development);
        RefreshCookies::new(&HttpSettings { cross_site_apps, ..settings })
    }

    fn read(lines: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(COOKIE, HeaderValue::from_str(line).unwrap());
        }
        let cookie = cookies("https://id.example.org", false, false).read(&headers);
        cookie.map(|cookie| cookie.expose().to_owned())
    }

    #[test]
    fn cookie_has_the_attributes_of_the_policy() {
        let header =
            cookies("https://id.example.org", false, false).set("abc", Duration::from_mins(1)).unwrap();
        let wanted =
            "__Secure-latchkey_refresh=abc; Path=/api/auth; Max-Age=60; HttpOnly; Secure; SameSite=Lax";
        assert_eq!(header, wanted);
        assert!(header.is_sensitive());
    }

    #[test]
    fn cross_site_apps_get_same_site_none() {
        let header =
            cookies("https://id.example.org", false, true).set("abc", Duration::from_mins(1)).unwrap();
        assert!(header.to_str().unwrap().ends_with("; Secure; SameSite=None"));
    }

    #[test]
    fn only_development_over_http_goes_without_secure() {
        let header = cookies("http://localhost:8700", true, true).set("abc", Duration::from_mins(1)).unwrap();
        assert_eq!(header, "latchkey_refresh=abc; Path=/api/auth; Max-Age=60; HttpOnly; SameSite=Lax");
        assert_eq!(cookies("http://localhost:8700", false, false).name(), SECURE_NAME);
        assert_eq!(cookies("https://localhost:8700", true, false).name(), SECURE_NAME);
    }

    #[test]
    fn clearing_has_the_same_name_and_path() {
        let header = cookies("https://id.example.org", false, false).clear().unwrap();
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
        let cookies = cookies("https://id.example.org", false, false);
        assert!(cookies.set("a\r\nSet-Cookie: x=y", Duration::ZERO).is_err());
    }
}
