//! Settings of the SMTP transport and the rules between them.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use zeroize::Zeroizing;

/// How the way to the mail server is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsMode {
    /// Begin in the clear and demand STARTTLS (RFC 3207) before anything else is said; usual on port 587. A server that
    /// does not offer it gets no mail.
    Starttls,
    /// TLS from the first byte (RFC 8314); usual on port 465.
    Tls,
    /// No protection: only towards a server on this machine.
    Plain,
}

/// The password for the mail server. Wiped from memory when dropped; cannot be printed.
#[derive(Clone)]
pub struct SmtpPassword(Zeroizing<String>);

impl SmtpPassword {
    /// Takes the password.
    #[must_use]
    pub fn new(password: String) -> Self {
        Self(Zeroizing::new(password))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

/// Where the mail server is and how to talk to it.
#[derive(Clone)]
pub struct SmtpSettings {
    /// Host name or IP address. With TLS, the certificate must be for it.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// User name; together with `password`, or neither.
    pub username: Option<String>,
    /// Password; together with `username`, or neither.
    pub password: Option<SmtpPassword>,
    /// Protection of the connection.
    pub tls: TlsMode,
    /// A PEM file with certificates that are trusted besides the public ones, for a relay with a private authority.
    pub ca_file: Option<PathBuf>,
    /// The longest wait for the connection and for each answer.
    pub timeout: Duration,
    /// How many idle connections are kept for the next mail; 0 opens one for each.
    pub pool: usize,
}

impl SmtpSettings {
    /// STARTTLS without a login, 30 seconds, one connection kept.
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

/// Why SMTP settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InvalidSmtpSettings {
    /// [`TlsMode::Plain`] towards another machine.
    #[error(
        "plain SMTP to {host} would send mails and passwords in the clear; use starttls or tls, or a relay on localhost"
    )]
    PlainToRemote {
        /// The host.
        host: String,
    },
    /// A user name without a password, or the other way round.
    #[error("SMTP needs both a user name and a password, or neither")]
    HalfLogin,
    /// Not a host name and not an IP address.
    #[error("{host:?} is no host name or IP address of a mail server")]
    Host {
        /// The host.
        host: String,
    },
    /// The extra certificates cannot be read or used.
    #[error("{}: {reason}", path.display())]
    CaFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The TLS library refused the settings.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

impl SmtpSettings {
    /// Checks the rules between settings; files are read later.
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

/// `localhost` (RFC 6761) or a loopback address. Other names may resolve to anything tomorrow.
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
