//! Options for connecting to PostgreSQL: database URL, pool, timeouts, TLS.

use std::ffi::OsString;
use std::fmt;
use std::net::IpAddr;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::str::FromStr;
use std::thread::available_parallelism;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

/// Additional time for the network, by which the client waits longer for a response than the statement
/// timeout.
const WAY: Duration = Duration::from_secs(1);

/// Maximum execution time of a read that counts or pages through whole tables. Nobody waits for its response.
const PAGE: Duration = Duration::from_mins(1);

/// Preparation of statements under a name on the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Prepared {
    /// Each statement is prepared once per connection, which is less work for the server, if the connection is direct.
    /// Each connection is checked when it begins, and again in use.
    #[default]
    Auto,
    /// Statements are never prepared under a name. This works behind any pooler in any mode.
    Never,
    /// Statements are prepared on every connection, without a check. This is for poolers that keep the names of their
    /// clients apart, or are in session mode. Behind another pooler a name may belong to another client's statement.
    Named,
}

/// Options for connecting to PostgreSQL. The URL may contain a password, so there is no `Debug`.
#[derive(Clone)]
pub struct PostgresOptions {
    /// Database URL: `postgres://user:password@host:5432/database?…`. Several hosts are separated by commas; a Unix
    /// socket is `postgres:///database?host=/run/postgresql`. `sslmode` is `disable`, or one of `require`, `verify-ca`
    /// and `verify-full`, which all verify the certificate chain and the host's name. It may be left out only for Unix
    /// sockets and loopback addresses, which then have no TLS. `sslrootcert` is a file like
    /// [`PostgresOptions::ca_file`]. The default of `target_session_attrs` is `read-write`. Other parameters are those
    /// of the driver.
    pub url: String,
    /// Maximum number of connections of this instance, at least 1.
    pub pool_size: usize,
    /// Maximum execution time of one statement.
    pub statement_timeout: Duration,
    /// Maximum wait for a free connection of the pool.
    pub acquire_timeout: Duration,
    /// Maximum time for connecting to one host.
    pub connect_timeout: Duration,
    /// Time after which an unused connection is closed.
    pub idle_timeout: Duration,
    pub prepared: Prepared,
    /// PEM file of the trusted certificate authorities, which replace the public ones; `None` trusts the public ones.
    pub ca_file: Option<PathBuf>,
}

impl PostgresOptions {
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        let threads = available_parallelism().map_or(2, usize::from);
        Self {
            url: url.into(),
            pool_size: (4 * threads).clamp(8, 32),
            statement_timeout: Duration::from_secs(5),
            acquire_timeout: Duration::from_secs(3),
            connect_timeout: Duration::from_secs(3),
            idle_timeout: Duration::from_mins(5),
            prepared: Prepared::Auto,
            ca_file: None,
        }
    }

    /// Returns the maximum time that one statement can take: the wait for the pool, connecting to each host, and the
    /// response.
    #[must_use]
    pub fn longest_wait(&self) -> Duration {
        let hosts = Address::parse(self).map_or(1, |address| address.host_count());
        let connecting = self.connect_timeout.saturating_mul(hosts);
        self.acquire_timeout.saturating_add(connecting).saturating_add(self.response_timeout())
    }

    /// Returns the maximum wait for a response: the statement timeout plus time for the network.
    pub(crate) fn response_timeout(&self) -> Duration {
        self.statement_timeout.saturating_add(WAY)
    }

    /// Returns the maximum execution time of one of the reads that follow one another in a snapshot.
    pub(crate) fn page_timeout(&self) -> Duration {
        self.statement_timeout.max(PAGE)
    }

    /// Returns the maximum wait for the response to such a read.
    pub(crate) fn page_response_timeout(&self) -> Duration {
        self.page_timeout().saturating_add(WAY)
    }

    /// Returns the statement timeout in milliseconds, as the server takes it.
    pub(crate) fn server_timeout(&self) -> u128 {
        self.statement_timeout.as_millis().max(1)
    }

    #[must_use]
    pub fn uses_tls(&self) -> bool {
        Address::parse(self).is_ok_and(|address| address.config.get_ssl_mode() != SslMode::Disable)
    }

    /// Validates the options without contacting the server or reading a file.
    pub fn check(&self) -> Result<(), OptionsError> {
        Address::parse(self).map(|_| ())
    }
}

/// Reason why options are invalid. It never contains a password.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// The scheme of the URL is neither `postgres://` nor `postgresql://`.
    #[error("the database's address must begin with postgres:// or postgresql://")]
    Scheme,
    /// The `sslmode` is unknown, or leaves the choice of encryption to the server.
    #[error("sslmode={0} is not possible: use verify-full, or disable for a connection without TLS")]
    SslMode(String),
    /// The host is remote, and the URL has no `sslmode`.
    #[error(
        "the database's address names another machine ({0}) and no sslmode: write ?sslmode=verify-full behind the \
         database's name (or sslmode=disable, without TLS, on a network that you trust)"
    )]
    NoSslMode(String),
    #[error("the database's address cannot be used")]
    Address(#[source] tokio_postgres::Error),
    /// The URL names no host or no database.
    #[error("the database's address names no {0}")]
    Missing(&'static str),
    /// The numbers of hosts and ports do not match.
    #[error(
        "the database's address names {hosts} hosts and {ports} ports: give one port, or one for each host"
    )]
    Ports { hosts: usize, ports: usize },
    /// The file of certificate authorities is unreadable or empty.
    #[error("the certificates in {} cannot be used: {reason}", path.display())]
    CaFile { path: PathBuf, reason: String },
    #[error("TLS cannot be set up")]
    Tls(#[source] rustls::Error),
}

/// Parsed URL and TLS options.
pub(crate) struct Address {
    pub(crate) config: Config,
    pub(crate) ca_file: Option<PathBuf>,
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Address(…)")
    }
}

impl Address {
    /// Parses the options without contacting the server.
    pub(crate) fn parse(options: &PostgresOptions) -> Result<Self, OptionsError> {
        if !["postgres://", "postgresql://"].iter().any(|scheme| options.url.starts_with(scheme)) {
            return Err(OptionsError::Scheme);
        }
        let own = OwnParameters::split(&options.url);
        let mut config = Config::from_str(&own.rest).map_err(OptionsError::Address)?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(OptionsError::Missing("host"));
        }
        if config.get_dbname().is_none() {
            return Err(OptionsError::Missing("database"));
        }
        let (hosts, ports) =
            (config.get_hosts().len().max(config.get_hostaddrs().len()), config.get_ports().len());
        if ports > 1 && ports != hosts {
            return Err(OptionsError::Ports { hosts, ports });
        }
        config.ssl_mode(ssl_mode(own.ssl_mode.as_deref())?);
        if own.ssl_mode.is_none()
            && let Some(host) = first_elsewhere(&config)
        {
            return Err(OptionsError::NoSslMode(host));
        }
        if !own.names_session {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(options.connect_timeout);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(options.statement_timeout);
        }
        if config.get_application_name().is_none() {
            config.application_name("latchkey");
        }
        let ca_file = options.ca_file.clone().or(own.ca_file);
        Ok(Self { config, ca_file })
    }

    pub(crate) fn host_count(&self) -> u32 {
        u32::try_from(self.config.get_hosts().len().max(1)).unwrap_or(1)
    }

    /// True if passwords and rows would cross a network in plain text.
    pub(crate) fn is_exposed(&self) -> bool {
        self.config.get_ssl_mode() == SslMode::Disable && first_elsewhere(&self.config).is_some()
    }
}

/// Returns the first host that is not local. `hostaddr` takes precedence over host names.
fn first_elsewhere(config: &Config) -> Option<String> {
    if !config.get_hostaddrs().is_empty() {
        let elsewhere = config.get_hostaddrs().iter().find(|address| !address.to_canonical().is_loopback());
        return elsewhere.map(ToString::to_string);
    }
    config.get_hosts().iter().find_map(|host| match host {
        Host::Tcp(name) => Some(name).filter(|name| !is_loopback(name)).cloned(),
        Host::Unix(_) => None,
    })
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or_else(
        |_| host.eq_ignore_ascii_case("localhost"),
        |address| address.to_canonical().is_loopback(),
    )
}

/// Parameters of the database URL that this crate interprets itself, because the driver does not know them or
/// interprets them differently, and the URL without them.
struct OwnParameters {
    ssl_mode: Option<String>,
    ca_file: Option<PathBuf>,
    /// True if the URL has the parameter `target_session_attrs`.
    names_session: bool,
    rest: String,
}

impl OwnParameters {
    fn split(url: &str) -> Self {
        // The driver reads everything up to the `@` as user and password, even a `?`.
        let credentials = url.find('@').unwrap_or_default();
        let end = url[credentials..].find('?').map_or(url.len(), |at| credentials + at);
        let (base, query) = url.split_at(end);
        let query = query.strip_prefix('?').unwrap_or_default();
        let mut own = Self { ssl_mode: None, ca_file: None, names_session: false, rest: base.to_owned() };
        let mut separator = '?';
        let mut keep = |rest: &mut String, pair: &str| {
            rest.push(separator);
            rest.push_str(pair);
            separator = '&';
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", mode)) => own.ssl_mode = Some(mode.to_owned()),
                Some(("sslrootcert", path)) => own.ca_file = Some(decoded_path(path)),
                // The driver reads several hosts as repeated parameters.
                Some(("host", hosts)) => {
                    hosts.split(',').for_each(|host| keep(&mut own.rest, &format!("host={host}")));
                }
                named => {
                    own.names_session |= named.is_some_and(|(name, _)| name == "target_session_attrs");
                    keep(&mut own.rest, pair);
                }
            }
        }
        own
    }
}

/// Decodes a percent-encoded path in the URL, as the driver does with the other parameters of the URL.
fn decoded_path(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = hex.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    PathBuf::from(OsString::from_vec(bytes))
}

fn ssl_mode(asked: Option<&str>) -> Result<SslMode, OptionsError> {
    match asked {
        None | Some("disable") => Ok(SslMode::Disable),
        Some("require" | "verify-ca" | "verify-full") => Ok(SslMode::Require),
        Some(other) => Err(OptionsError::SslMode(other.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn address(url: &str) -> Result<Address, OptionsError> {
        Address::parse(&PostgresOptions::new(url))
    }

    #[test]
    fn several_hosts_are_tried_for_one_that_writes() {
        let config = address("postgres://u:p@a:1,b:2/db?sslmode=disable").unwrap().config;
        assert_eq!(config.get_hosts().len(), 2);
        assert_eq!(config.get_ports(), [1, 2]);
        assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        let any = address("postgres://u@a/db?target_session_attrs=any&sslmode=disable").unwrap().config;
        assert_eq!(any.get_target_session_attrs(), TargetSessionAttrs::Any);
    }

    #[test]
    fn a_unix_socket_is_a_host() {
        let address = address("postgres:///db?host=/run/postgresql&user=u").unwrap();
        assert_eq!(address.config.get_hosts(), [Host::Unix(PathBuf::from("/run/postgresql"))]);
        assert!(!address.is_exposed());
    }

    #[test]
    fn several_unix_sockets_are_several_hosts() {
        let config = address("postgres:///db?host=/a,/b&port=1,2&user=u").unwrap().config;
        assert_eq!(config.get_hosts(), [Host::Unix(PathBuf::from("/a")), Host::Unix(PathBuf::from("/b"))]);
        assert_eq!(config.get_ports(), [1, 2]);
        let refused = address("postgres:///db?host=/a,/b,/c&port=1,2&user=u").unwrap_err();
        assert!(matches!(refused, OptionsError::Ports { hosts: 3, ports: 2 }), "{refused}");
    }

    #[test]
    fn tls_is_verified_or_absent() {
        for mode in ["require", "verify-ca", "verify-full"] {
            let address = address(&format!("postgres://u@db.example/db?sslmode={mode}")).unwrap();
            assert_eq!(address.config.get_ssl_mode(), SslMode::Require);
            assert!(!address.is_exposed());
        }
        assert!(address("postgres://u@db.example/db?sslmode=disable").unwrap().is_exposed());
        assert!(!address("postgres://u@localhost/db?sslmode=disable").unwrap().is_exposed());
        for mode in ["prefer", "allow", "no"] {
            let refused = address(&format!("postgres://u@db.example/db?sslmode={mode}")).unwrap_err();
            assert!(matches!(refused, OptionsError::SslMode(_)));
        }
    }

    #[test]
    fn another_machine_without_an_sslmode_is_refused() {
        for (url, host) in [
            ("postgres://u:p@db.example/db", "db.example"),
            ("postgres://u@localhost,db2.example/db", "db2.example"),
            ("postgres://u@10.0.0.5/db?application_name=sslmode", "10.0.0.5"),
            ("postgres://u@localhost/db?hostaddr=10.0.0.5", "10.0.0.5"),
            ("postgres://u@[2001:db8::1]/db", "2001:db8::1"),
            ("postgres://u@localhost.example/db", "localhost.example"),
            ("postgres:///db?host=/run/postgresql,db.example&user=u", "db.example"),
        ] {
            let refused = address(url).unwrap_err();
            assert!(matches!(&refused, OptionsError::NoSslMode(found) if found == host), "{url}: {refused}");
        }
        for url in [
            "postgres://u@localhost/db",
            "postgres://u@LOCALHOST/db",
            "postgres://u@127.0.0.1,127.0.0.2/db",
            "postgres://u@[::1]/db",
            "postgres://u@db.example/db?hostaddr=127.0.0.1",
            "postgres:///db?host=/run/postgresql&user=u",
        ] {
            assert!(address(url).is_ok(), "{url}");
        }
    }

    #[test]
    fn a_file_of_authorities_is_taken_from_the_address() {
        let address =
            address("postgres://u@a/db?sslmode=verify-full&sslrootcert=/etc/ca.pem&options=-cx").unwrap();
        assert_eq!(address.ca_file, Some(PathBuf::from("/etc/ca.pem")));
        assert_eq!(address.config.get_options(), Some("-cx"));
    }

    #[test]
    fn parameters_stand_behind_the_password_whatever_is_in_it() {
        let text =
            "postgres://u:p?target_session_attrs=w@db.example/db?sslmode=require&sslrootcert=/a%20b%2Fca.pem";
        let address = address(text).unwrap();
        assert_eq!(address.config.get_ssl_mode(), SslMode::Require);
        assert_eq!(address.config.get_password(), Some(b"p?target_session_attrs=w".as_slice()));
        assert_eq!(address.config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        assert_eq!(address.ca_file, Some(PathBuf::from("/a b/ca.pem")));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        assert!(matches!(address("mysql://u@a/db"), Err(OptionsError::Scheme)));
        assert!(matches!(address("postgres://u@a"), Err(OptionsError::Missing("database"))));
        assert!(matches!(address("postgres:///db"), Err(OptionsError::Missing("host"))));
        assert!(matches!(address("postgres://u@a/db?nonsense=1"), Err(OptionsError::Address(_))));
    }
}
