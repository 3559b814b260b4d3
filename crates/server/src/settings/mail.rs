//! Section `mail`: mail transport, sender and templates.

use std::path::PathBuf;
use std::time::Duration;

use latchkey_mail::TlsMode;
use latchkey_settings::{Entries, Problems, Reader, Secret, Value, settings, text_of};
use url::{Host, Url};

use super::{data_folder, in_development, origin};

settings! {
    /// Settings of section `mail`.
    #[derive(Debug)]
    pub struct MailSettings {
        /// Mail transport: "smtp"; "file" writes one .eml file per mail into mail.dir; "" sends no mail. Development:
        /// "file". Production: "", which is refused while auth.require_email_verification is on.
        "mail.transport" => transport: MailTransport {
            "smtp" => MailTransport::Smtp,
            "file" => MailTransport::File,
            "" => MailTransport::None,
        } = default_transport, "file";
        /// Folder of the file transport. Not set: mails inside data.dir.
        "mail.dir" => dir: PathBuf = in_data_folder, "./latchkey-data/mails";
        /// Sender, "Name <address>" or an address alone. Required with transport "smtp". Not set otherwise:
        /// server.service_name and no-reply at the host of server.public_url.
        "mail.from" => from: Option<MailSender> | read_sender = default_sender, "Latchkey <no-reply@example.com>";
        /// Folder whose files replace the embedded texts of the same name, for example verify_code.subject.txt,
        /// verify_code.txt, verify_code.html; for other languages than English in folders such as de. All are checked
        /// at the start. Not set: none.
        "mail.templates_dir" => templates_dir: Option<PathBuf> = "";
    }
}

settings! {
    /// Settings of section `mail.smtp`.
    #[derive(Debug)]
    pub struct SmtpSettings {
        /// Host name or IP address of the mail server. Required with transport "smtp".
        "mail.smtp.host" => host: String | read_host = "";
        /// Port of the mail server. Not set: 587 with tls "starttls", 465 with "tls", 25 with "none". Port 465 with
        /// "starttls" and ports 25 and 587 with "tls" are refused, because no mail could be sent.
        "mail.smtp.port" => port: u16 [1..=65_535] = default_port, 587;
        /// Account at the mail server: set both or neither. The password is a secret.
        "mail.smtp.username" => username: Option<String> = "";
        "mail.smtp.password" => password: Option<Secret> = none, "";
        /// "starttls" requires STARTTLS, "tls" uses TLS from the first byte, "none" (or "plain") is unencrypted and
        /// allowed only for loopback hosts. There is no opportunistic mode, because it would fall back to plain text
        /// unnoticed.
        "mail.smtp.tls" => tls: TlsMode {
            "starttls" => TlsMode::Starttls,
            "tls" => TlsMode::Tls,
            "none" => TlsMode::Plain,
            "plain" => TlsMode::Plain,
        } = "starttls";
        /// PEM file with further certificate authorities, for a private relay. Not set: the public ones only.
        "mail.smtp.ca_file" => ca_file: Option<PathBuf> = "";
        /// Timeout of one SMTP command.
        "mail.smtp.timeout" => timeout: Duration = "20s";
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailTransport {
    None,
    /// Mails are written as files into `mail.dir`.
    File,
    /// Mails are sent to an SMTP server.
    Smtp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailSender {
    /// Display name, without quotes.
    pub name: Option<String>,
    /// Email address, `local@domain`.
    pub address: String,
}

impl MailSettings {
    /// Checks for transport "smtp" that sender and host are set, that TLS mode and port match, and that user name and
    /// password are set together.
    pub(super) fn check(&self, smtp: &SmtpSettings, problems: &mut Problems) {
        const TRANSPORT: &str = "mail.transport";
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
        } else if smtp.tls == TlsMode::Plain && !origin::is_loopback_host(&smtp.host) {
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
    /// Describes the problem of a well-known port that expects another TLS mode than the configured one (RFC 8314).
    /// Every delivery would fail, and only after a timeout.
    fn misfit(&self) -> Option<String> {
        let port = self.port;
        match (self.tls, port) {
            (TlsMode::Starttls, 465) => Some(
                "465 is the port for TLS from the first byte, and mail.smtp.tls is \"starttls\"; set mail.smtp.tls \
                 to \"tls\", or mail.smtp.port to 587"
                    .to_owned(),
            ),
            (TlsMode::Tls, 25 | 587) => Some(format!(
                "{port} is a port for STARTTLS, and mail.smtp.tls is \"tls\"; set mail.smtp.tls to \"starttls\", \
                 or mail.smtp.port to 465"
            )),
            _ => None,
        }
    }
}

fn read_host(reader: &mut Reader<'_>, key: &'static str) -> String {
    reader.parse(key, parse_host).unwrap_or_default()
}

fn read_sender(reader: &mut Reader<'_>, key: &'static str) -> Option<MailSender> {
    reader.parse(key, parse_sender)
}

#[expect(clippy::unnecessary_wraps, reason = "the type of a setting's default")]
fn default_transport(entries: &Entries) -> Option<Value> {
    Some(Value::Text(if in_development(entries) { "file" } else { "" }.to_owned()))
}

#[expect(clippy::unnecessary_wraps, reason = "the type of a setting's default")]
fn in_data_folder(entries: &Entries) -> Option<Value> {
    Some(Value::Text(format!("{}/mails", data_folder(entries))))
}

/// Returns the port that IANA assigns to the TLS mode.
#[expect(clippy::unnecessary_wraps, reason = "the type of a setting's default")]
fn default_port(entries: &Entries) -> Option<Value> {
    Some(Value::Integer(match text_of(entries, "mail.smtp.tls") {
        "tls" => 465,
        "none" | "plain" => 25,
        _ => 587,
    }))
}

/// Builds the default sender. With SMTP there is none, because mail servers refuse a made-up sender or take it for
/// spam.
fn default_sender(entries: &Entries) -> Option<Value> {
    let url = Url::parse(text_of(entries, "server.public_url")).ok();
    let host = match url.as_ref().and_then(Url::host) {
        Some(Host::Domain(domain)) => domain,
        _ => "localhost",
    };
    let sender = || format!("{} <no-reply@{host}>", text_of(entries, "server.service_name"));
    (text_of(entries, "mail.transport") != "smtp").then(|| Value::Text(sender()))
}

fn parse_host(text: &str) -> Result<String, &'static str> {
    let is_host = text.bytes().all(|c| c.is_ascii_alphanumeric() || b".-_:[]".contains(&c));
    let is_name_with_port = text.matches(':').count() == 1;
    if !is_host || is_name_with_port {
        return Err("wanted a host name or an address alone; the port belongs into mail.smtp.port");
    }
    Ok(text.to_owned())
}

/// Parses `Name <local@domain>` or `local@domain`. Checks only the syntax, so that the value cannot inject a mail
/// header. The mail server decides whether the address exists.
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
