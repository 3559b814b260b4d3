//! Check of the header `Host`: pages are shown only under the host of the public URL. Otherwise another site could
//! read them by pointing a domain name of its own at this machine (DNS rebinding).

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::HOST;
use latchkey_http::settings::{HttpSettings, RouterState};

use crate::errors::PageError;

/// Layer that answers 421 to a request for another host.
pub(crate) async fn check<S: RouterState>(State(state): State<S>, request: Request, next: Next) -> Response {
    let mut named = request.headers().get_all(HOST).iter();
    let host = match (named.next(), named.next()) {
        (Some(host), None) => host.to_str().ok(),
        (None, _) => request.uri().authority().map(http::uri::Authority::as_str),
        (Some(_), Some(_)) => None,
    };
    if host.is_some_and(|host| is_own(host, state.http_settings())) {
        return next.run(request).await;
    }
    PageError::wrong_host().into_response()
}

/// The names of this machine. A browser sends an address in its one canonical spelling.
const THIS_MACHINE: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// True for the host and port of the public URL; in development also for this machine with any port. The text counts, not
/// what it resolves to: other spellings of an address are other hosts.
pub(crate) fn is_own(host: &str, settings: &HttpSettings) -> bool {
    let own = &settings.public_url;
    let Some((name, port)) = parts(host) else { return false };
    let is_name = own.host_str().is_some_and(|own| own.eq_ignore_ascii_case(name));
    let is_port = port.map_or(own.port().is_none(), |port| Some(port) == own.port_or_known_default());
    (is_name && is_port) || (settings.development && THIS_MACHINE.contains(&name))
}

/// Splits a `Host` into its name and its port, if it has one; `None` if that is no port.
fn parts(host: &str) -> Option<(&str, Option<u16>)> {
    match host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
        Some((name, port)) if port.bytes().all(|c| c.is_ascii_digit()) => {
            Some((name, Some(port.parse().ok()?)))
        }
        Some(_) => None,
        None => Some((host, None)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn settings(public_url: &str, development: bool) -> HttpSettings {
        HttpSettings::new(public_url.parse().unwrap(), development)
    }

    #[test]
    fn host_of_the_public_url_is_own_with_its_port_written_or_not() {
        let settings = settings("https://id.example.org", false);
        for host in ["id.example.org", "ID.example.org", "id.example.org:443"] {
            assert!(is_own(host, &settings), "{host}");
        }
        for host in [
            "",
            "example.org",
            "id.example.org:8443",
            "id.example.org.evil.example",
            "id.example.org@evil.example",
            "evil.example/id.example.org",
            "localhost",
            "127.0.0.1",
        ] {
            assert!(!is_own(host, &settings), "{host}");
        }
    }

    #[test]
    fn this_machine_is_own_in_development_alone() {
        for host in ["localhost:8700", "127.0.0.1:4711", "[::1]:8700", "localhost"] {
            assert!(is_own(host, &settings("http://localhost:8700", true)), "{host}");
        }
        for host in ["localhost.evil.example", "192.0.2.1", "[2001:db8::1]"] {
            assert!(!is_own(host, &settings("http://localhost:8700", true)), "{host}");
        }
        for host in ["localhost:", "localhost:x", "localhost:+80", "localhost:70000", "::1", "a@localhost"] {
            assert!(!is_own(host, &settings("http://localhost:8700", true)), "{host}");
        }
    }

    #[test]
    fn other_spellings_of_an_address_are_other_hosts() {
        for host in ["127.0.0.2", "127.1", "0x7f.1", "2130706433:8700", "0177.0.0.1", "[0::1]", "localhost."]
        {
            for public_url in ["http://localhost:8700", "http://127.0.0.1:8700", "http://[::1]:8700"] {
                assert!(!is_own(host, &settings(public_url, true)), "{host}");
            }
        }
        assert!(is_own("[2001:db8::1]:8443", &settings("https://[2001:db8::1]:8443", false)));
        assert!(!is_own("[2001:db8::1]", &settings("https://[2001:db8::1]:8443", false)));
    }
}
