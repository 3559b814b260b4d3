//! Section `mail`: how mails leave.

use std::path::PathBuf;
use std::time::Duration;

use super::origin;
use super::problem::Problems;
use super::reader::Reader;
use super::secret::Secret;

/// Section `mail`.
#[derive(Debug)]
pub struct MailSettings {
    /// How mails leave.
    pub transport: MailTransport,
    /// The folder of the file transport.
    pub dir: PathBuf,
    /// The sender; always set where mails leave.
    pub from: Option<MailSender>,
    /// A folder of templates that replace the embedded ones.
    pub templates_dir: Option<PathBuf>,
    /// The mail server; complete only with [`MailTransport::Smtp`].
    pub smtp: SmtpSettings,
}

/// How mails leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailTransport {
    /// Not at all.
    None,
    /// As files in [`MailSettings::dir`].
    File,
    /// Through [`MailSettings::smtp`].
    Smtp,
}

/// A sender: `Name <address>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailSender {
    /// The display name, without quotes.
    pub name: Option<String>,
    /// The address, `local@domain`.
    pub address: String,
}

/// Section `mail.smtp`.
#[derive(Debug)]
pub struct SmtpSettings {
    /// Name or address of the mail server; empty where it is not set.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The account there; set together with the password.
    pub username: Option<String>,
    /// The password there.
    pub password: Option<Secret>,
    /// How the connection is protected.
    pub tls: SmtpTls,
    /// A PEM file with further certificate authorities.
    pub ca_file: Option<PathBuf>,
    /// Longest wait for one answer.
    pub timeout: Duration,
}

/// How a connection to a mail server is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmtpTls {
    /// STARTTLS, which must succeed (RFC 3207).
    Starttls,
    /// TLS from the first byte (RFC 8314).
    Tls,
    /// Plain text, for loopback hosts alone.
    None,
}

impl MailSettings {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let transport = match reader.text("mail.transport") {
            "smtp" => MailTransport::Smtp,
            "file" => MailTransport::File,
            _ => MailTransport::None,
        };
        Self {
            transport,
            dir: PathBuf::from(reader.text("mail.dir")),
            from: reader.parse("mail.from", parse_sender),
            templates_dir: reader.optional_text("mail.templates_dir").map(PathBuf::from),
            smtp: SmtpSettings::read(reader),
        }
    }
}

impl MailSettings {
    /// The rules between keys of this section; they matter only where mails leave by SMTP.
    pub(super) fn check(&self, problems: &mut Problems) {
        const TRANSPORT: &str = "mail.transport";
        let smtp = &self.smtp;
        if self.transport != MailTransport::Smtp {
            return;
        }
        if self.from.is_none() {
            let sentence = "it is required with mail.transport \"smtp\"; set it to a sender that your \
                            mail server accepts, such as Latchkey <no-reply@example.com>";
            problems.rule(&["mail.from", TRANSPORT], sentence);
        }
        if smtp.host.is_empty() {
            let sentence = "it is required with mail.transport \"smtp\"; set it to the name of the \
                            mail server, or mail.transport to \"file\"";
            problems.rule(&["mail.smtp.host", TRANSPORT], sentence);
        } else if smtp.tls == SmtpTls::None && !origin::is_loopback_host(&smtp.host) {
            let sentence = "mails and passwords would cross the network in the clear; use \
                            \"starttls\" or \"tls\", or a mail server on this machine";
            problems.rule(&["mail.smtp.tls", "mail.smtp.host"], sentence);
        }
        if let Some(sentence) = smtp.misfit() {
            problems.rule(&["mail.smtp.port", "mail.smtp.tls"], sentence);
        }
        if smtp.username.is_some() != smtp.password.is_some() {
            let sentence = "username and password belong together; set both or neither";
            problems.rule(&["mail.smtp.username", "mail.smtp.password"], sentence);
        }
    }
}

impl SmtpSettings {
    /// The sentence about a well-known port that speaks otherwise than [`Self::tls`] (RFC 8314): no mail would ever
    /// leave, and each try would take a whole timeout.
    fn misfit(&self) -> Option<String> {
        let port = self.port;
        match (self.tls, port) {
            (SmtpTls::Starttls, 465) => Some(
                "465 is the port for TLS from the first byte, and mail.smtp.tls is \"starttls\"; set mail.smtp.tls \
                 to \"tls\", or mail.smtp.port to 587"
                    .to_owned(),
            ),
            (SmtpTls::Tls, 25 | 587) => Some(format!(
                "{port} is a port for STARTTLS, and mail.smtp.tls is \"tls\"; set mail.smtp.tls to \"starttls\", \
                 or mail.smtp.port to 465"
            )),
            _ => None,
        }
    }

    fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            host: reader.parse("mail.smtp.host", parse_host).unwrap_or_default(),
            port: reader.number("mail.smtp.port"),
            username: reader.optional_text("mail.smtp.username"),
            password: reader.take_secret("mail.smtp.password"),
            tls: match reader.text("mail.smtp.tls") {
                "tls" => SmtpTls::Tls,
                "none" | "plain" => SmtpTls::None,
                _ => SmtpTls::Starttls,
            },
            ca_file: reader.optional_text("mail.smtp.ca_file").map(PathBuf::from),
            timeout: reader.duration("mail.smtp.timeout"),
        }
    }
}

fn parse_host(text: &str) -> Result<String, &'static str> {
    let is_host = text.bytes().all(|c| c.is_ascii_alphanumeric() || b".-_:[]".contains(&c));
    let is_name_with_port = text.matches(':').count() == 1;
    if !is_host || is_name_with_port {
        return Err("wanted a host name or an address alone; the port stands in mail.smtp.port");
    }
    Ok(text.to_owned())
}

/// Reads `Name <local@domain>` or `local@domain`. Only the form is checked, so that nothing in it
/// can break a header; whether the address exists, the mail server knows.
fn parse_sender(text: &str) -> Result<MailSender, &'static str> {
    const WANTED: &str = "wanted Name <address> or an address, such as Latchkey <no-reply@example.com>";
    let (name, address) = match text.strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
        Some((name, address)) => (name.trim().trim_matches('"').trim(), address),
        None => ("", text),
    };
    let is_name = !name.chars().any(|c| c.is_control() || matches!(c, '<' | '>' | '"'));
    if !is_name || !is_address(address) {
        return Err(WANTED);
    }
    let name = Some(name).filter(|name| !name.is_empty()).map(str::to_owned);
    Ok(MailSender { name, address: address.to_owned() })
}

fn is_address(address: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with('.');
    let is_plain = address.bytes().all(|c| c.is_ascii_graphic() && !b"<>()[]\\,;:\"".contains(&c));
    let parts = address.split_once('@');
    is_plain
        && parts.is_some_and(|(local, domain)| is_part(local) && is_part(domain) && !domain.contains('@'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_sender_is_a_name_and_an_address_or_an_address() {
        let named = parse_sender("Latchkey Küche <no-reply@example.com>").unwrap();
        assert_eq!(named.name.as_deref(), Some("Latchkey Küche"));
        assert_eq!(named.address, "no-reply@example.com");
        assert_eq!(parse_sender("\"A, B\" <a@b.example>").unwrap().name.as_deref(), Some("A, B"));
        assert_eq!(parse_sender("a@localhost").unwrap().name, None);
    }

    #[test]
    fn a_sender_cannot_break_a_header() {
        for text in [
            "Latchkey",
            "a@b@c",
            "<>",
            "A <a@b>\r\nBcc: x@y",
            "A\r\nB <a@b.c>",
            "a b@c.d",
            "A <a@b",
            "@b",
            "a@",
            "a@.b",
            "A <x> <a@b.c>",
            "a@b.c, d@e.f",
        ] {
            assert!(parse_sender(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_host_has_no_port() {
        assert!(parse_host("mail.example.com").is_ok());
        assert!(parse_host("::1").is_ok());
        assert!(parse_host("mail.example.com:25").is_err());
        assert!(parse_host("smtp://mail.example.com").is_err());
    }
}
