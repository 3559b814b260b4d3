//! Section `server`: address, mode, secret, origins, proxies, and limits of connections and requests.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use ipnet::{IpNet, Ipv4Net};
use latchkey_domain::redirect::DevelopmentLoopback;
use latchkey_settings::{Entries, Kind, Problems, Reader, Secret, Setting, Value, settings, text_of, words};
use url::Url;

use super::strength::{self, REMEDY};
use super::{in_development, origin};

/// Minimum length of `server.secret` in bytes.
const SHORTEST_SECRET: usize = 32;
const WANTED_ADDRESS: &str = "wanted an IP address and a port, such as 127.0.0.1:8700 or [::]:8700";

words! {
    pub enum Mode {
        /// Starts without any settings, reachable from this machine only.
        Development = "development",
        /// Requires the settings of a public service.
        Production = "production",
    }
}

impl Mode {
    /// Allows redirects to loopback while the list of redirect targets is empty, in development mode only.
    #[must_use]
    pub const fn loopback(self) -> DevelopmentLoopback {
        match self {
            Self::Development => DevelopmentLoopback::Allowed,
            Self::Production => DevelopmentLoopback::Refused,
        }
    }
}

settings! {
    /// Section `server`: address, mode, secret, origins, proxies, and limits of connections and requests.
    #[derive(Debug)]
    pub struct ServerSettings {
        /// "development" starts without any setting, reachable from this machine only. "production" requires
        /// server.public_url, server.secret and admin.api_key, and verifies email addresses by default.
        "server.mode" => mode: Mode = "development";
        /// IP address and port to listen on. Development refuses every address that is not loopback. In a container,
        /// production usually needs "0.0.0.0:8700".
        "server.bind" => bind: SocketAddr | read_bind = "127.0.0.1:8700";
        /// URL under which browsers reach the service: scheme, host and port, without a path. Links in mails and the
        /// issuer of access tokens are made from it, never from request headers. Development: http://localhost with the
        /// port of server.bind. Production: required, and https unless its host is loopback or server.allow_http is on.
        "server.public_url" => public_url: Url | read_public_url = local_url, "https://accounts.example.com";
        /// Production only: allow an http server.public_url on a host that is not loopback. Passwords and tokens then
        /// cross the network unencrypted; for closed test networks only.
        "server.allow_http" => allow_http: bool = false;
        /// Server secret, at least 32 bytes. The service derives all its keys from it (HKDF): for the encryption of
        /// signing keys, for codes, for CSRF tokens. The service refuses to start with another secret than its
        /// database is sealed under, because it could not decrypt the stored data. `latchkey secret rotate` replaces it.
        /// Development: generated into data.dir at the first start. Production: required; make one with `openssl rand
        /// -hex 32`.
        "server.secret" => secret: Option<Secret> [Kind::Secret] | read_secret =
            none, "change-me: the output of openssl rand -hex 32";
        /// The secret by which `latchkey secret rotate` replaces server.secret; nothing else reads it. Not on the
        /// command line. Not set: none.
        "server.secret_next" => secret_next: Option<Secret> [Kind::Secret] | read_next_secret = none, "";
        /// Name of the service in mails and on pages, 1 to 64 characters. Passwords must not contain it.
        "server.service_name" => service_name: String | read_service_name = "Latchkey";
        /// Origins of web applications that may call the service with cookies, for example ["https://app.example.com"].
        /// The origin of server.public_url and the http(s) entries of auth.allowed_redirect_urls without a wildcard are
        /// always allowed; development adds every port of http://localhost and http://127.0.0.1. `*` and `null` are
        /// refused. Web views and browser extensions have origins too: "capacitor://localhost", "ionic://localhost",
        /// "tauri://localhost", "chrome-extension://ID", "moz-extension://UUID", "safari-web-extension://UUID".
        "server.cors_origins" => cors_origins: Vec<String> [Kind::List] | read_origins = [];
        /// Names of further request headers that web applications may send (CORS), for example ["x-tenant"].
        "server.cors_headers" => cors_headers: Vec<String> [Kind::List] | read_header_names = [];
        /// Set to true if web applications are on another site than server.public_url (not merely another subdomain).
        /// The refresh cookie is then sent with SameSite=None instead of Lax. Requires https, because browsers drop
        /// such a cookie on http.
        "server.cross_site_apps" => cross_site_apps: bool = false;
        /// Name of the refresh cookie: 1 to 64 letters, digits and !#$%&'*+-.^_`|~. The service adds the prefix
        /// "__Secure-". In development over http it adds "_" and the port of server.public_url instead, because
        /// browsers share cookies between ports. Give each of several services on one host another name. A change signs
        /// all web pages out, because the old cookie is not read. Two more cookies have this name with the suffix
        /// "_oauth" or "_signup". They bind a sign-in through a provider, and a verification link, to the browser that
        /// started it.
        "server.cookie_name" => cookie_name: String | read_cookie_name = "latchkey_refresh";
        /// Addresses or networks of reverse proxies, for example ["10.0.0.0/8", "::1"]. X-Forwarded-For and
        /// X-Request-Id are read only from these peers. The client address is the right-most one in X-Forwarded-For
        /// that is not in this list. If your proxy is missing here, all clients count as one address. A peer in the
        /// list can forge the client's address, so list only your proxies.
        "server.trusted_proxies" => trusted_proxies: Vec<IpNet> [Kind::List] | read_networks = [];
        /// Timeout until the first byte of a new connection.
        "server.first_byte_timeout" => first_byte_timeout: Duration = "3s";
        /// Timeout of a request's head. An idle connection is closed after the same time.
        "server.header_read_timeout" => header_read_timeout: Duration = "10s";
        /// Timeout of a request's body.
        "server.body_timeout" => body_timeout: Duration = "10s";
        /// Timeout of a whole request; after it the response is 503.
        "server.request_timeout" => request_timeout: Duration = "15s";
        /// Time after SIGTERM, SIGINT or SIGHUP in which /health/ready is 503 while requests are still served, so that a load
        /// balancer takes this instance out before it refuses connections. A second signal ends it. For systems that
        /// ask /health/ready: longer than they take to notice.
        "server.stop_delay" => stop_delay: Duration [Kind::DurationOrZero] = "0s";
        /// Time for requests in flight after server.stop_delay; then their connections are closed.
        "server.drain_timeout" => drain_timeout: Duration [Kind::DurationOrZero] = "20s";
        /// Maximum number of open connections; further ones wait in the accept queue of the system. One client address
        /// (IPv6: a /64 network) may have an eighth of them; further ones of that client are closed at once. The limit
        /// per client does not apply to server.trusted_proxies, with limits.enabled = false, or if this number is below
        /// 8.
        "server.max_connections" => max_connections: usize [1..=1_000_000] = 4096;
        /// Maximum number of requests in flight over all connections, from the head of the request to the end of its
        /// response. Further ones get 503 SERVICE_BUSY at once. /health/live and /health/ready do not count.
        "server.max_requests" => max_requests: usize [1..=1_000_000] = 1024;
        /// Maximum size of a request body in KiB: max_profile_body_kib for the profile calls, max_body_kib for all others.
        "server.max_body_kib" => max_body_bytes: usize [1..=16_384] | read_kib = 64;
        "server.max_profile_body_kib" => max_profile_body_bytes: usize [1..=16_384] | read_kib = 256;
        /// Maximum size in KiB of a file to import that an admin uploads. `latchkey import` reads
        /// files of any size.
        "import.max_upload_kib" => max_upload_bytes: usize [1..=102_400] | read_kib = 10_240;
    }
}

impl ServerSettings {
    #[must_use]
    pub const fn is_development(&self) -> bool {
        matches!(self.mode, Mode::Development)
    }

    /// Returns the maximum number of connections per client address: an eighth of all. `None` (no limit per client) if
    /// fewer than eight are allowed in total.
    #[must_use]
    pub const fn connection_share(&self) -> Option<usize> {
        if self.max_connections < 8 { None } else { Some(self.max_connections / 8) }
    }

    /// Checks that the size limit of profile bodies is not below that of other bodies.
    pub(super) fn check(&self, problems: &mut Problems) {
        if self.max_profile_body_bytes < self.max_body_bytes {
            let keys = ["server.max_profile_body_kib", "server.max_body_kib"];
            problems.rule(&keys, "it is below server.max_body_kib; profiles need at least as much");
        }
    }
}

/// Reads the mode of operation, for the defaults and rules of other settings.
pub(super) fn mode(reader: &mut Reader<'_>) -> Mode {
    Mode::read(reader, "server.mode")
}

fn read_kib(reader: &mut Reader<'_>, key: &'static str) -> usize {
    reader.number::<usize>(key) * 1024
}

fn read_origins(reader: &mut Reader<'_>, key: &'static str) -> Vec<String> {
    reader.parse_list(key, origin::parse_allowed)
}

fn read_header_names(reader: &mut Reader<'_>, key: &'static str) -> Vec<String> {
    reader.parse_list(key, parse_header_name)
}

pub(super) fn read_networks(reader: &mut Reader<'_>, key: &'static str) -> Vec<IpNet> {
    reader.parse_list(key, parse_network)
}

/// Returns the default of the public URL in development mode: localhost with the port of `server.bind`.
fn local_url(entries: &Entries) -> Option<Value> {
    let port = text_of(entries, "server.bind").parse::<SocketAddr>().map_or(8700, |bind| bind.port());
    in_development(entries).then(|| Value::Text(format!("http://localhost:{port}")))
}

fn read_bind(reader: &mut Reader<'_>, key: &'static str) -> SocketAddr {
    if reader.text(key).is_empty() {
        reader.refuse(key, &format!("it is empty; {WANTED_ADDRESS}"));
    }
    read_address(reader, key).unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, 8700)))
}

/// Reads an address to listen on, if there is one. Development refuses addresses that are not loopback.
pub(super) fn read_address(reader: &mut Reader<'_>, key: &'static str) -> Option<SocketAddr> {
    let bind: SocketAddr = reader.parse(key, |text| text.parse().map_err(|_| WANTED_ADDRESS))?;
    if mode(reader) == Mode::Development && !bind.ip().is_loopback() {
        let sentence = format!(
            "{bind} can be reached from outside and development mode is for this machine alone; \
             bind to 127.0.0.1, or set server.mode to production"
        );
        reader.rule(&[key, "server.mode"], &sentence);
    }
    Some(bind)
}

fn read_public_url(reader: &mut Reader<'_>, key: &'static str) -> Url {
    if reader.text(key).is_empty() {
        let sentence = "it is required in production; set it to the address under which browsers \
                        reach the service, such as https://accounts.example.com";
        reader.rule(&[key, "server.mode"], sentence);
    }
    let Some(url) = reader.parse(key, origin::parse) else { return origin::this_machine() };
    refuse_http(reader, key, &url);
    if url.scheme() == "http" && reader.flag("server.cross_site_apps") {
        let sentence = "it needs an https server.public_url, because browsers drop cookies with \
                        SameSite=None on http; use https, or switch it off";
        reader.rule(&["server.cross_site_apps", key], sentence);
    }
    url
}

/// Refuses an http URL in production, unless its host is loopback or `server.allow_http` is on.
pub(super) fn refuse_http(reader: &mut Reader<'_>, key: &'static str, url: &Url) {
    let may_be_http = url.scheme() != "http" || origin::is_loopback(url) || reader.flag("server.allow_http");
    if mode(reader) == Mode::Production && !may_be_http {
        let sentence = "it is http; in production use https (a proxy may end TLS), or set \
                        server.allow_http to true for a closed test network";
        reader.rule(&[key, "server.mode", "server.allow_http"], sentence);
    }
}

fn read_secret(reader: &mut Reader<'_>, key: &'static str) -> Option<Secret> {
    let secret = read_next_secret(reader, key);
    if secret.is_none() && mode(reader) == Mode::Production {
        reader.rule(&[key, "server.mode"], &format!("it is required in production; {REMEDY}"));
    }
    secret
}

fn read_next_secret(reader: &mut Reader<'_>, key: &'static str) -> Option<Secret> {
    let mode = mode(reader);
    let secret = reader.take_secret(key)?;
    let length = secret.reveal().len();
    if length < SHORTEST_SECRET {
        let sentence = format!("it has {length} bytes, at least {SHORTEST_SECRET} are needed; {REMEDY}");
        reader.refuse(key, &sentence);
    } else if let Some(weakness) = strength::weakness(secret.reveal(), mode) {
        reader.refuse(key, &format!("{weakness}; {REMEDY}"));
    }
    Some(secret)
}

fn read_service_name(reader: &mut Reader<'_>, key: &'static str) -> String {
    let name = reader.text(key).to_owned();
    let is_name = (1..=64).contains(&name.chars().count())
        && name.trim() == name
        && !name.chars().any(|c| c.is_control() || matches!(c, '<' | '>' | '"'));
    if !is_name {
        let wanted = "wanted 1 to 64 characters without <, >, quotes, control characters and white \
                      space around them";
        reader.refuse(key, &format!("found {name:?}; {wanted}"));
    }
    name
}

/// Parses the name of a header (RFC 9110 section 5.1). `*` is refused, because browsers take it literally in requests
/// with credentials.
fn parse_header_name(text: &str) -> Result<String, &'static str> {
    let is_name = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_');
    let is_good = (1..=64).contains(&text.len()) && text.bytes().all(is_name);
    if is_good { Ok(text.to_ascii_lowercase()) } else { Err("wanted the name of a header, such as x-tenant") }
}

/// Reads the name of the refresh cookie. A leading `__` is refused, because browsers require attributes for prefixes
/// such as `__Host-` that the service may not set.
fn read_cookie_name(reader: &mut Reader<'_>, key: &'static str) -> String {
    let name = reader.text(key).to_owned();
    let is_token = |c: u8| c.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&c);
    let is_name = (1..=64).contains(&name.len()) && name.bytes().all(is_token) && !name.starts_with("__");
    if !is_name {
        let wanted = "wanted 1 to 64 letters, digits and !#$%&'*+-.^_`|~, not beginning with __, such as \
                      latchkey_refresh; the service adds __Secure- itself";
        reader.refuse(key, &format!("found {name:?}; {wanted}"));
    }
    name
}

/// Parses a network in CIDR notation, or a single address as a network of one.
fn parse_network(text: &str) -> Result<IpNet, &'static str> {
    let alone = |text: &str| text.parse::<IpAddr>().ok().map(IpNet::from);
    text.parse::<IpNet>()
        .ok()
        .or_else(|| alone(text))
        .map(unmapped)
        .ok_or("wanted an address or a network, such as 10.0.0.0/8 or ::1")
}

/// Converts an IPv4-mapped network such as `::ffff:10.0.0.0/104` to `10.0.0.0/8`, because peers are compared as IPv4.
fn unmapped(net: IpNet) -> IpNet {
    let IpNet::V6(mapped) = net else { return net };
    let v4 = mapped.addr().to_ipv4_mapped().zip(mapped.prefix_len().checked_sub(96));
    v4.and_then(|(ip, length)| Ipv4Net::new(ip, length).ok()).map_or(net, IpNet::V4)
}
