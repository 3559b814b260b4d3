//! Check of the header `Host`: pages are shown only under the host of the public URL. Otherwise another site could
//! read them by pointing a domain name of its own at this machine (DNS rebinding).

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::HOST;
use latchkey_http::settings::{HttpSettings, RouterState};
use url::{Host, Url};

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

/// True for the host and port of the public URL; in development also for a loopback host with any port.
pub(crate) fn is_own(host: &str, settings: &HttpSettings) -> bool {
    let is_plain = host.bytes().all(|c| c.is_ascii_alphanumeric() || b".-_:[]".contains(&c));
    let own = &settings.public_url;
    let Some(url) = is_plain.then(|| Url::parse(&format!("{}://{host}", own.scheme())).ok()).flatten() else {
        return false;
    };
    let is_same = url.host() == own.host() && url.port_or_known_default() == own.port_or_known_default();
    is_same || (settings.development && url.host().is_some_and(|host| is_this_machine(&host)))
}

fn is_this_machine(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(domain) => *domain == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
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
    }
}
