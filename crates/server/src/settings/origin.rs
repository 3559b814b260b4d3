//! What counts as loopback, and what as an origin.

use url::{Host, Url};

/// Whether a URL's host is this machine: `localhost` or a loopback address.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(domain)) => is_localhost(domain),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// The same for a host name or address that stands alone.
pub(super) fn is_loopback_host(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    is_localhost(host) || address.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

fn is_localhost(domain: &str) -> bool {
    domain.eq_ignore_ascii_case("localhost")
}

/// Reads `scheme://host` or `scheme://host:port` of http or https, with nothing behind but `/`.
pub(super) fn parse(text: &str) -> Result<Url, String> {
    let wanted = "wanted scheme, host and port alone, such as https://app.example.com";
    let url = Url::parse(text).map_err(|error| format!("it is no URL ({error}); {wanted}"))?;
    let is_web = matches!(url.scheme(), "http" | "https");
    let is_bare = url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    let is_plain = text.bytes().all(|c| c.is_ascii_graphic() && c != b'\\' && c != b'*');
    if is_web && is_bare && is_plain { Ok(url) } else { Err(wanted.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_scheme_host_and_port_alone() {
        for text in ["https://app.example.com", "http://localhost:3000", "http://[::1]:80/"] {
            assert!(parse(text).is_ok(), "{text}");
        }
        for text in [
            "*",
            "null",
            "",
            "app.example.com",
            "https://app.example.com/path",
            "https://*.example.com",
            "https://a@example.com",
            "https://example.com?x",
            "https://example.com#",
            "ftp://example.com",
            " https://example.com",
            "https:\\\\example.com",
            "file:///",
            "https://exa\tmple.com",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn loopback_is_localhost_and_the_loopback_addresses() {
        for host in ["localhost", "LocalHost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"] {
            assert!(is_loopback_host(host), "{host}");
        }
        for host in ["localhost.example.com", "0.0.0.0", "10.0.0.1", "example.com", ""] {
            assert!(!is_loopback_host(host), "{host}");
        }
    }
}
