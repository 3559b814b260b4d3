//! Defaults that depend on other settings, above all on the mode. They are filled in where nobody
//! set the key, before the sections are read.

use std::net::SocketAddr;

use url::{Host, Url};

use super::entry::{Entries, Entry, Value};
use super::source::Source;

/// The keys filled in here for which an empty text means "not set".
const FILLED: &[&str] = &["server.public_url", "storage.url", "mail.dir", "mail.from"];

/// Whether an empty text at this key asks for the derived default.
pub(super) fn fills(key: &str) -> bool {
    FILLED.contains(&key)
}

pub(super) fn fill(entries: &mut Entries) {
    let is_development = text(entries, "server.mode") == "development";
    if is_development {
        let port = text(entries, "server.bind").parse::<SocketAddr>().map_or(8700, |bind| bind.port());
        put(entries, "server.public_url", Value::Text(format!("http://localhost:{port}")));
    }
    let data = text(entries, "data.dir").trim_end_matches('/').to_owned();
    put(entries, "storage.url", Value::Text(format!("sqlite:{data}/latchkey.db")));
    put(entries, "storage.create", Value::Boolean(is_development));

    let transport = if is_development { "file" } else { "" };
    put(entries, "mail.transport", Value::Text(transport.to_owned()));
    put(entries, "mail.dir", Value::Text(format!("{data}/mails")));
    let port = match text(entries, "mail.smtp.tls") {
        "tls" => 465,
        "none" | "plain" => 25,
        _ => 587,
    };
    put(entries, "mail.smtp.port", Value::Integer(port));
    // Over SMTP a made-up sender would be refused far away or land in spam: there it must be set.
    if text(entries, "mail.transport") != "smtp" {
        let sender = default_sender(entries);
        put(entries, "mail.from", Value::Text(sender));
    }

    put(entries, "auth.require_email_verification", Value::Boolean(!is_development));
    put(entries, "notifications.account", Value::Boolean(!is_development));
}

fn default_sender(entries: &Entries) -> String {
    let url = Url::parse(text(entries, "server.public_url")).ok();
    let host = match url.as_ref().and_then(Url::host) {
        Some(Host::Domain(domain)) => domain,
        _ => "localhost",
    };
    format!("{} <no-reply@{host}>", text(entries, "server.service_name"))
}

fn text<'a>(entries: &'a Entries, key: &str) -> &'a str {
    match entries.get(key).map(|entry| &entry.value) {
        Some(Value::Text(text)) => text,
        _ => "",
    }
}

fn put(entries: &mut Entries, key: &'static str, value: Value) {
    entries.entry(key).or_insert(Entry { value, source: Source::Derived });
}
