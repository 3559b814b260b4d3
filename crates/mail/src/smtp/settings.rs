//! Settings of the SMTP transport and their validation.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use zeroize::Zeroizing;

/// Encryption of the SMTP connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsMode {
    /// STARTTLS (RFC 3207), usually on port 587. Required: a server that does not offer it gets no mail.
    Starttls,
    /// Implicit TLS (RFC 8314), usually on port 465.
    Tls,
    /// No encryption, only for a server on this machine.
    Plain,
}

/// SMTP password. Zeroised on drop; not printable.
#[derive(Clone)]
pub struct SmtpPassword(Zeroizing<String>);

impl SmtpPassword {
    #[must_use]
    pub fn new(password: String) -> Self {
        Self(Zeroizing::new(password))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

/// Address of the mail server and connection settings.
#[derive(Clone)]
pub struct SmtpSettings {
    /// Host name or IP address of the server. With TLS, the server's certificate must be valid for it.
    pub host: String,
    pub port: u16,
    /// User name; requires `password`.
    pub username: Option<String>,
    /// Password; requires `username`.
    pub password: Option<SmtpPassword>,
    pub tls: TlsMode,
    /// PEM file with root certificates in addition to the public ones, for a relay with a private CA.
    pub ca_file: Option<PathBuf>,
    /// Timeout of connecting and of each reply.
    pub timeout: Duration,
    /// Number of pooled idle connections; 0 opens one per mail.
    pub pool: usize,
}

impl SmtpSettings {
    /// Creates the default settings: STARTTLS, no authentication, 30 seconds, one pooled connection.
    #[must_use]
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self {
            host: host.into(),
            port,
            username: None,
            password: None,
            tls: TlsMode::Starttls,
            ca_file: None,
            timeout: Duration::from_secs(30),
            pool: 1,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum InvalidSmtpSettings {
    /// The setting is [`TlsMode::Plain`] and the host is remote.
    #[error(
        "plain SMTP to {host} would send mails and passwords in the clear; use starttls or tls, or a relay on localhost"
    )]
    PlainToRemote { host: String },
    /// A user name without a password, or a password without a user name.
    #[error("SMTP needs both a user name and a password, or neither")]
    HalfLogin,
    /// The host is neither a host name nor an IP address.
    #[error("{host:?} is no host name or IP address of a mail server")]
    Host { host: String },
    /// The root certificates are unreadable or invalid.
    #[error("{}: {reason}", path.display())]
    CaFile { path: PathBuf, reason: String },
    /// Error of the TLS library.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

impl SmtpSettings {
    /// Validates the settings; files are read later.
    pub(crate) fn check(&self) -> Result<(), InvalidSmtpSettings> {
        let is_host = !self.host.is_empty()
            && self
                .host
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':'));
        if !is_host {
            return Err(InvalidSmtpSettings::Host { host: self.host.clone() });
        }
        if self.tls == TlsMode::Plain && !is_loopback(&self.host) {
            return Err(InvalidSmtpSettings::PlainToRemote { host: self.host.clone() });
        }
        if self.username.is_some() != self.password.is_some() {
            return Err(InvalidSmtpSettings::HalfLogin);
        }
        Ok(())
    }
}

/// True for `localhost` (RFC 6761) or a loopback address. Other names are not accepted, because they may resolve to
/// another machine later.
fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn plain(host: &str) -> SmtpSettings {
        SmtpSettings { tls: TlsMode::Plain, ..SmtpSettings::new(host, 25) }
    }

    #[test]
    fn plain_smtp_stays_on_this_machine() {
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.8.8.8", "::1"] {
            assert!(plain(host).check().is_ok(), "{host}");
        }
        for host in ["mail.example.org", "10.0.0.1", "localhost.example.org", "0.0.0.0", "::ffff:10.0.0.1"] {
            let error = plain(host).check().unwrap_err();
            assert!(matches!(error, InvalidSmtpSettings::PlainToRemote { .. }), "{host}: {error}");
        }
    }

    #[test]
    fn half_a_login_is_refused() {
        let settings =
            SmtpSettings { username: Some("u".to_owned()), ..SmtpSettings::new("mail.example.org", 587) };
        assert!(matches!(settings.check(), Err(InvalidSmtpSettings::HalfLogin)));
    }

    #[test]
    fn a_host_is_a_name_or_an_address() {
        for host in
            ["", "smtp://mail.example.org", "mail.example.org/", "a b", "user@mail.example.org", "a\r\nb"]
        {
            assert!(
                matches!(SmtpSettings::new(host, 587).check(), Err(InvalidSmtpSettings::Host { .. })),
                "{host:?}"
            );
        }
    }
}
