//! The settings of the HTTP layer: addresses, trust and limits, already validated. The binary reads them from file,
//! environment and command line.

use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use latchkey_domain::locale::Locale;
use url::Url;

/// The state of an axum router. Extractors get the [`HttpSettings`] from it.
pub trait RouterState: Send + Sync {
    fn http_settings(&self) -> &HttpSettings;
}

impl RouterState for Arc<HttpSettings> {
    fn http_settings(&self) -> &HttpSettings {
        self
    }
}

/// Settings that apply to requests.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct HttpSettings {
    /// The URL by which clients reach the service (`server.public_url`). Cookies, links and `Strict-Transport-Security`
    /// depend on it.
    pub public_url: Url,
    /// True in development mode: origins on localhost are allowed, and at an http address the cookies are not `Secure`.
    pub development: bool,
    /// Peers whose `X-Forwarded-For` is trusted (`server.trusted_proxies`).
    pub trusted_proxies: Vec<IpNet>,
    /// True if the apps are on other sites than the service: the refresh cookie is `SameSite=None` then.
    pub cross_site_apps: bool,
    /// Request headers that web pages may send besides the built-in ones (`server.cors_headers`), in lower case.
    pub cors_headers: Vec<String>,
    /// The refresh cookie's name without prefix and port (`server.cookie_name`).
    pub cookie_name: String,
    /// Languages of mails. A client's `Accept-Language` selects one of them.
    pub locales: Vec<Locale>,
    /// Maximum bytes of a request body.
    pub body_limit: usize,
    /// Maximum bytes of a request body on profile endpoints.
    pub profile_body_limit: usize,
    /// Maximum bytes of a file to import.
    pub upload_limit: usize,
    /// Time limit for reading a body; 408 after it.
    pub body_timeout: Duration,
    /// Time limit for a response; 503 after it.
    pub request_timeout: Duration,
    /// Maximum bytes of path and query string together; 414 above it.
    pub uri_limit: usize,
    /// Maximum bytes of all header names and values together; 431 above it.
    pub header_bytes_limit: usize,
    /// Maximum number of header lines; 431 above it.
    pub header_count_limit: usize,
    /// True if requests are traced (`traces.endpoint`).
    pub has_traces: bool,
    /// True if traces contain the ids of users (`traces.user_ids`).
    pub traces_users: bool,
}

impl HttpSettings {
    /// Creates the default settings for a service at `public_url`.
    #[must_use]
    pub fn new(public_url: Url, development: bool) -> Self {
        Self {
            public_url,
            development,
            trusted_proxies: Vec::new(),
            cross_site_apps: false,
            cors_headers: Vec::new(),
            cookie_name: "latchkey_refresh".to_owned(),
            locales: Vec::new(),
            body_limit: 64 * 1024,
            profile_body_limit: 256 * 1024,
            upload_limit: 10 * 1024 * 1024,
            body_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(15),
            uri_limit: 8 * 1024,
            header_bytes_limit: 32 * 1024,
            header_count_limit: 100,
            has_traces: false,
            traces_users: false,
        }
    }

    /// True if clients reach the service by https.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.public_url.scheme() == "https"
    }

    /// Returns the origin of the public URL as browsers write it (RFC 6454 section 6.2).
    #[must_use]
    pub fn public_origin(&self) -> String {
        self.public_url.origin().ascii_serialization()
    }
}

/// Time limit for reading a file to import.
pub(crate) const UPLOAD_TIME: Duration = Duration::from_mins(1);

/// Settings of the server loop, which apply to connections.
#[derive(Debug, Clone)]
pub struct ServeSettings {
    /// Maximum number of open connections over all listeners; more wait in the kernel's backlog.
    pub max_connections: usize,
    /// Maximum number of connections per client network (an IPv4 address or an IPv6 /64); further ones are closed at
    /// once. `None` disables the limit.
    pub max_connections_per_address: Option<usize>,
    /// Peers that are exempt from the limit per client network.
    pub trusted_proxies: Vec<IpNet>,
    /// Maximum number of requests in flight over all connections; further ones get 503, except health checks.
    pub max_requests: usize,
    /// Time limit for the first byte of a new connection.
    pub first_byte_timeout: Duration,
    /// Time limit for reading the head of a request. An idle connection is closed after the same time.
    pub header_read_timeout: Duration,
    /// Time limit for a response ([`HttpSettings::request_timeout`]). An HTTP/2 stream is reset after twice this time,
    /// even if the client has not read its response.
    pub request_timeout: Duration,
    /// Time that requests in flight get to finish when the server stops.
    pub drain_timeout: Duration,
}

impl Default for ServeSettings {
    fn default() -> Self {
        Self {
            max_connections: 4096,
            max_connections_per_address: None,
            trusted_proxies: Vec::new(),
            max_requests: 1024,
            first_byte_timeout: Duration::from_secs(3),
            header_read_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(15),
            drain_timeout: Duration::from_secs(20),
        }
    }
}
