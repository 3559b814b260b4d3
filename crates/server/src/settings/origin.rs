//! Parsing of URLs without a path and of web origins, and recognition of loopback hosts.

use url::{Host, Url};

/// True if the URL's host is `localhost` or a loopback address.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(domain)) => is_localhost(domain),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// True if a host name or address, without scheme and port, is `localhost` or a loopback address.
pub(super) fn is_loopback_host(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    is_localhost(host) || address.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

/// Returns a fallback for a missing or invalid public URL, so that the other settings can be checked.
pub(super) fn this_machine() -> Url {
    Url::parse("http://localhost:8700").unwrap_or_else(|_| unreachable!("a constant URL"))
}

fn is_localhost(domain: &str) -> bool {
    domain.eq_ignore_ascii_case("localhost")
}

const WANTED: &str = "wanted scheme, host and port alone, such as https://app.example.com";

/// Parses an http or https URL of scheme, host and optional port. A path other than `/`, a query or credentials are
/// refused.
pub(super) fn parse(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("it is no URL ({error}); {WANTED}"))?;
    let is_web = matches!(url.scheme(), "http" | "https");
    let is_bare = url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    let is_plain = text.bytes().all(|c| c.is_ascii_graphic() && c != b'\\' && c != b'*');
    if is_web && is_bare && is_plain { Ok(url) } else { Err(WANTED.to_owned()) }
}

/// Schemes of web views that serve an app from its own package. The app chooses the host.
const WEB_VIEWS: [&str; 3] = ["capacitor", "ionic", "tauri"];

/// Parses an origin that may call the service, as browsers send it (RFC 6454 section 6.2): of http or https, of a web
/// view, or of a browser extension.
pub(super) fn parse_allowed(text: &str) -> Result<String, String> {
    let app = text.split_once("://").map(|(scheme, rest)| (scheme, rest.strip_suffix('/').unwrap_or(rest)));
    let (scheme, host) = match app {
        Some((scheme, host)) if !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") => {
            (scheme, host)
        }
        _ => {
            return parse(text)
                .map(|url| url.origin().ascii_serialization())
                .map_err(|wanted| with_apps(&wanted));
        }
    };
    let is_good = match scheme {
        scheme if WEB_VIEWS.contains(&scheme) => is_host(host),
        "chrome-extension" => host.len() == 32 && host.bytes().all(|c| matches!(c, b'a'..=b'p')),
        "moz-extension" | "safari-web-extension" => is_uuid(host),
        _ => false,
    };
    if is_good { Ok(format!("{scheme}://{host}")) } else { Err(with_apps(WANTED)) }
}

fn with_apps(wanted: &str) -> String {
    format!(
        "{wanted}; or of an app: capacitor://localhost, ionic://localhost, tauri://localhost, chrome-extension:// with \
         the 32 letters of its id, moz-extension:// or safari-web-extension:// with its UUID"
    )
}

/// True if the text is a lower-case host name without a port.
fn is_host(host: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-')
    };
    host.len() <= 253 && host.split('.').all(is_label)
}

/// True for a UUID of 36 characters with hyphens. Safari writes it in upper case.
fn is_uuid(text: &str) -> bool {
    let is_at_home = |(at, c): (usize, u8)| match at {
        8 | 13 | 18 | 23 => c == b'-',
        _ => c.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.bytes().enumerate().all(is_at_home)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_of_web_views_and_extensions_are_allowed() {
        for text in [
            "capacitor://localhost",
            "ionic://localhost",
            "tauri://localhost",
            "capacitor://app.example.com",
            "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
            "moz-extension://0b2d3f3a-9c1e-4b6f-8d55-2f9a1c3e5d7f",
            "safari-web-extension://0B2D3F3A-9C1E-4B6F-8D55-2F9A1C3E5D7F",
            "https://app.example.com:8443",
        ] {
            assert_eq!(parse_allowed(text).as_deref(), Ok(text));
        }
        assert_eq!(parse_allowed("tauri://localhost/").as_deref(), Ok("tauri://localhost"));
        assert_eq!(parse_allowed("HTTPS://App.example.com").as_deref(), Ok("https://app.example.com"));
    }

    #[test]
    fn other_schemes_and_bad_hosts_are_no_origins() {
        for text in [
            "null",
            "*",
            "capacitor://",
            "capacitor://*",
            "capacitor://localhost:8100",
            "capacitor://a@localhost",
            "capacitor://localhost/path",
            "capacitor://localhost?x",
            "capacitor://LOCALHOST",
            "Capacitor://localhost",
            "capacitor:localhost",
            "chrome-extension://abc",
            "chrome-extension://abcdefghijklmnopabcdefghijklmnoz",
            "chrome-extension://*",
            "moz-extension://abcdefghijklmnop",
            "safari-web-extension://0b2d3f3a9c1e4b6f8d552f9a1c3e5d7f",
            "file://localhost",
            "javascript://localhost",
            "data://localhost",
            "myapp://localhost",
            "tauri://localhost tauri://evil",
        ] {
            let refusal = parse_allowed(text);
            assert!(refusal.is_err_and(|text| text.contains("chrome-extension://")), "{text}");
        }
    }

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
