//! The settings of the HTTP layer: addresses, trust and limits, already validated. The binary reads them from files and
//! the environment.

use std::time::Duration;

use ipnet::IpNet;
use url::Url;

/// Settings of every request. Extractors take them out of the router's state by
/// `Arc<HttpSettings>: FromRef<State>`.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// The URL by which clients reach the service (`server.public_url`). Links, `https`-only headers and cookies follow it.
    pub public_url: Url,
    /// Development mode: origins on localhost are known, the cookie may go without `Secure`.
    pub development: bool,
    /// Peers whose `X-Forwarded-For` counts (`server.trusted_proxies`).
    pub trusted_proxies: Vec<IpNet>,
    /// The apps live on other sites than the service: the refresh cookie is `SameSite=None`.
    pub cross_site_apps: bool,
    /// Headers that web pages may send besides ours (`server.cors_headers`), in lower case.
    pub cors_headers: Vec<String>,
    /// The refresh cookie's name before prefix and port (`server.cookie_name`).
    pub cookie_name: String,
    /// Most bytes of a body.
    pub body_limit: usize,
    /// Most bytes of a body on profile routes.
    pub profile_body_limit: usize,
    /// The time limit of reading a body; then 408.
    pub body_timeout: Duration,
    /// The time limit of a response; then 503.
    pub request_timeout: Duration,
    /// Most bytes of path and query string together; then 414.
    pub uri_limit: usize,
    /// Most bytes of all header names and values together; then 431.
    pub header_bytes_limit: usize,
    /// Most header lines; then 431.
    pub header_count_limit: usize,
}

impl HttpSettings {
    /// The policy's numbers for a service at `public_url`.
    #[must_use]
    pub fn new(public_url: Url, development: bool) -> Self {
        Self {
            public_url,
            development,
            trusted_proxies: Vec::new(),
            cross_site_apps: false,
            cors_headers: Vec::new(),
            cookie_name: "latchkey_refresh".to_owned(),
            body_limit: 64 * 1024,
            profile_body_limit: 256 * 1024,
            body_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(15),
            uri_limit: 8 * 1024,
            header_bytes_limit: 32 * 1024,
            header_count_limit: 100,
        }
    }

    /// Is true where clients reach the service by https.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.public_url.scheme() == "https"
    }

    /// The origin of the public URL as browsers write it (RFC 6454 section 6.2).
    #[must_use]
    pub fn public_origin(&self) -> String {
        self.public_url.origin().ascii_serialization()
    }
}

/// Settings of the server loop, below requests.
#[derive(Debug, Clone)]
pub struct ServeSettings {
    /// Most connections at once over all listeners; more wait in the backlog of the kernel.
    pub max_connections: usize,
    /// Most connections of one client network (an IPv4 address, an IPv6 /64); further ones are closed at once. `None`
    /// switches the limit off.
    pub max_connections_per_address: Option<usize>,
    /// Peers that this limit does not hold for.
    pub trusted_proxies: Vec<IpNet>,
    /// Most requests in flight over all connections; further ones are refused with 503, health checks excepted.
    pub max_requests: usize,
    /// The time limit of the first byte of a new connection.
    pub first_byte_timeout: Duration,
    /// The time limit of reading the head of a request. An idle connection is closed after the same time.
    pub header_read_timeout: Duration,
    /// The time limit of a response ([`HttpSettings::request_timeout`]). An HTTP/2 stream ends after twice that time,
    /// even if its response was not read.
    pub request_timeout: Duration,
    /// The time limit of requests in flight at a stop.
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
