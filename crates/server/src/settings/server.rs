//! Section `server`: where and how the service is reached.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use ipnet::{IpNet, Ipv4Net};
use url::Url;

use super::origin;
use super::reader::Reader;
use super::secret::Secret;
use super::strength;

/// Fewest bytes of `server.secret`: what HKDF-SHA-256 can carry on.
const SHORTEST_SECRET: usize = 32;

/// How much the service takes for granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Starts without settings, for this machine alone.
    Development,
    /// Demands what a public service needs.
    Production,
}

impl Mode {
    pub(super) fn read(reader: &Reader<'_>) -> Self {
        let is_production = reader.text("server.mode") == "production";
        if is_production { Self::Production } else { Self::Development }
    }

    /// The name in the settings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Development => "development",
            Self::Production => "production",
        }
    }
}

/// Section `server`.
#[derive(Debug)]
pub struct ServerSettings {
    /// How much is taken for granted.
    pub mode: Mode,
    /// Address and port to listen on; loopback in development.
    pub bind: SocketAddr,
    /// Scheme, host and port under which browsers reach the service; its path is `/`.
    pub public_url: Url,
    /// Allows an http [`Self::public_url`] on a public host in production.
    pub allow_http: bool,
    /// At least 32 bytes. `None` only in development: the start generates one.
    pub secret: Option<Secret>,
    /// The name in mails and pages, 1 to 64 characters.
    pub service_name: String,
    /// Known origins, as browsers serialise them (RFC 6454 section 6.2).
    pub cors_origins: Vec<String>,
    /// Names of headers that web pages may send besides ours, in lower case.
    pub cors_headers: Vec<String>,
    /// Whether the refresh cookie must reach other sites (`SameSite=None`).
    pub cross_site_apps: bool,
    /// Name of the refresh cookie before prefix and port: a token of RFC 9110 section 5.6.2.
    pub cookie_name: String,
    /// Peers whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Longest time for the first byte of a connection.
    pub first_byte_timeout: Duration,
    /// Longest time for the head of a request.
    pub header_read_timeout: Duration,
    /// Longest time for the body of a request.
    pub body_timeout: Duration,
    /// Longest time for a whole request.
    pub request_timeout: Duration,
    /// Longest time for what is in flight at a stop.
    pub drain_timeout: Duration,
    /// Connections open at once.
    pub max_connections: usize,
    /// Requests in flight at once.
    pub max_requests: usize,
    /// Largest body, in bytes.
    pub max_body_bytes: usize,
    /// Largest body of the profile calls, in bytes.
    pub max_profile_body_bytes: usize,
}

impl ServerSettings {
    /// Whether this is development mode.
    #[must_use]
    pub const fn is_development(&self) -> bool {
        matches!(self.mode, Mode::Development)
    }

    /// Most connections of one client address: an eighth. There is no share of fewer than eight.
    #[must_use]
    pub const fn connection_share(&self) -> Option<usize> {
        if self.max_connections < 8 { None } else { Some(self.max_connections / 8) }
    }

    /// Everything that is wrong is told. A public URL that is missing or bad is replaced by one of this machine.
    pub(super) fn read(reader: &mut Reader<'_>, mode: Mode) -> Option<Self> {
        let public_url = read_public_url(reader, mode);
        let bind = read_bind(reader, mode);
        let secret = read_secret(reader, mode);
        let service_name = read_service_name(reader);
        let cookie_name = read_cookie_name(reader);
        let cors_origins = reader.parse_list("server.cors_origins", origin::parse_allowed);
        let cors_headers = reader.parse_list("server.cors_headers", parse_header_name);
        let trusted_proxies = reader.parse_list("server.trusted_proxies", parse_network);
        let max_body_kib = reader.number::<usize>("server.max_body_kib");
        let max_profile_body_kib = reader.number::<usize>("server.max_profile_body_kib");
        if max_profile_body_kib < max_body_kib {
            let keys = ["server.max_profile_body_kib", "server.max_body_kib"];
            reader.rule(&keys, "it is below server.max_body_kib; profiles need at least as much");
        }

        let stand_in = || origin::parse("http://localhost:8700").ok();
        Some(Self {
            mode,
            bind,
            public_url: public_url.or_else(stand_in)?,
            allow_http: reader.flag("server.allow_http"),
            secret,
            service_name,
            cors_origins,
            cors_headers,
            cross_site_apps: reader.flag("server.cross_site_apps"),
            cookie_name,
            trusted_proxies,
            first_byte_timeout: reader.duration("server.first_byte_timeout"),
            header_read_timeout: reader.duration("server.header_read_timeout"),
            body_timeout: reader.duration("server.body_timeout"),
            request_timeout: reader.duration("server.request_timeout"),
            drain_timeout: reader.duration("server.drain_timeout"),
            max_connections: reader.number("server.max_connections"),
            max_requests: reader.number("server.max_requests"),
            max_body_bytes: max_body_kib * 1024,
            max_profile_body_bytes: max_profile_body_kib * 1024,
        })
    }
}

fn read_bind(reader: &mut Reader<'_>, mode: Mode) -> SocketAddr {
    let wanted = "wanted an IP address and a port, such as 127.0.0.1:8700 or [::]:8700";
    if reader.text("server.bind").is_empty() {
        reader.refuse("server.bind", &format!("it is empty; {wanted}"));
    }
    let bind = reader.parse("server.bind", |text| text.parse().map_err(|_| wanted));
    let bind = bind.unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, 8700)));
    if mode == Mode::Development && !bind.ip().is_loopback() {
        let sentence = format!(
            "{bind} can be reached from outside and development mode is for this machine alone; \
             bind to 127.0.0.1, or set server.mode to production"
        );
        reader.rule(&["server.bind", "server.mode"], &sentence);
    }
    bind
}

fn read_public_url(reader: &mut Reader<'_>, mode: Mode) -> Option<Url> {
    const KEY: &str = "server.public_url";
    if reader.text(KEY).is_empty() {
        let sentence = "it is required in production; set it to the address under which browsers \
                        reach the service, such as https://accounts.example.com";
        reader.rule(&[KEY, "server.mode"], sentence);
        return None;
    }
    let url = reader.parse(KEY, origin::parse)?;
    let is_http = url.scheme() == "http";
    let may_be_http = origin::is_loopback(&url) || reader.flag("server.allow_http");
    if mode == Mode::Production && is_http && !may_be_http {
        let sentence = "it is http; in production use https (a proxy may end TLS), or set \
                        server.allow_http to true for a closed test network";
        reader.rule(&[KEY, "server.mode", "server.allow_http"], sentence);
    }
    if is_http && reader.flag("server.cross_site_apps") {
        let sentence = "it needs an https server.public_url, because browsers drop cookies with \
                        SameSite=None on http; use https, or switch it off";
        reader.rule(&["server.cross_site_apps", KEY], sentence);
    }
    Some(url)
}

fn read_secret(reader: &mut Reader<'_>, mode: Mode) -> Option<Secret> {
    const KEY: &str = "server.secret";
    const MEND: &str = "make one with `openssl rand -hex 32`";
    let Some(secret) = reader.take_secret(KEY) else {
        if mode == Mode::Production {
            reader.rule(&[KEY, "server.mode"], &format!("it is required in production; {MEND}"));
        }
        return None;
    };
    let length = secret.reveal().len();
    if length < SHORTEST_SECRET {
        let sentence = format!("it has {length} bytes, at least {SHORTEST_SECRET} are needed; {MEND}");
        reader.refuse(KEY, &sentence);
    } else if let Some(weakness) = strength::weakness(secret.reveal(), mode) {
        reader.refuse(KEY, &format!("{weakness}; {MEND}"));
    }
    Some(secret)
}

fn read_service_name(reader: &mut Reader<'_>) -> String {
    let name = reader.text("server.service_name").to_owned();
    let is_name = (1..=64).contains(&name.chars().count())
        && name.trim() == name
        && !name.chars().any(|c| c.is_control() || matches!(c, '<' | '>' | '"'));
    if !is_name {
        let wanted = "wanted 1 to 64 characters without <, >, quotes, control characters and white \
                      space around them";
        reader.refuse("server.service_name", &format!("found {name:?}; {wanted}"));
    }
    name
}

/// Reads the name of a header (RFC 9110 section 5.1). `*` would mean nothing in answers to calls with credentials.
fn parse_header_name(text: &str) -> Result<String, &'static str> {
    let is_name = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_');
    let is_good = (1..=64).contains(&text.len()) && text.bytes().all(is_name);
    if is_good { Ok(text.to_ascii_lowercase()) } else { Err("wanted the name of a header, such as x-tenant") }
}

/// Prefixes such as `__Host-` make browsers demand attributes that the service may not set.
fn read_cookie_name(reader: &mut Reader<'_>) -> String {
    let name = reader.text("server.cookie_name").to_owned();
    let is_token = |c: u8| c.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&c);
    let is_name = (1..=64).contains(&name.len()) && name.bytes().all(is_token) && !name.starts_with("__");
    if !is_name {
        let wanted = "wanted 1 to 64 letters, digits and !#$%&'*+-.^_`|~, not beginning with __, such as \
                      latchkey_refresh; the service adds __Secure- itself";
        reader.refuse("server.cookie_name", &format!("found {name:?}; {wanted}"));
    }
    name
}

/// Reads `10.0.0.0/8`, or an address alone as the network of itself.
fn parse_network(text: &str) -> Result<IpNet, &'static str> {
    let alone = |text: &str| text.parse::<IpAddr>().ok().map(IpNet::from);
    text.parse::<IpNet>()
        .ok()
        .or_else(|| alone(text))
        .map(unmapped)
        .ok_or("wanted an address or a network, such as 10.0.0.0/8 or ::1")
}

/// `::ffff:10.0.0.0/104` as `10.0.0.0/8`: peers are compared as IPv4.
fn unmapped(net: IpNet) -> IpNet {
    let IpNet::V6(mapped) = net else { return net };
    let v4 = mapped.addr().to_ipv4_mapped().zip(mapped.prefix_len().checked_sub(96));
    v4.and_then(|(ip, length)| Ipv4Net::new(ip, length).ok()).map_or(net, IpNet::V4)
}
