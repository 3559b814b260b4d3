//! Output of `config print`: the settings in force as TOML, with their sources and without secrets.

use std::collections::BTreeMap;

use latchkey_settings::{Entries, Kind, Source, Value, duration, holds_password, without_password};

use super::keys::{self, ITEMS, PROVIDERS};

/// Printable form of a setting's value, with its source.
#[derive(Debug)]
pub(super) struct Shown {
    /// TOML text; `None` for an empty secret.
    pub(super) text: Option<String>,
    /// True if the value contains a secret.
    pub(super) hides: bool,
    pub(super) source: Source,
}

impl Shown {
    /// Formats a value that an admin stored in the database.
    pub(super) fn of_admin(value: &serde_json::Value) -> Self {
        let text = match value {
            serde_json::Value::Null => "\"\"".to_owned(),
            // JSON and TOML have the same syntax for these types, except for the escapes in strings.
            serde_json::Value::String(text) => toml::Value::from(text.as_str()).to_string(),
            serde_json::Value::Array(items) => {
                let texts: Vec<_> = items.iter().filter_map(serde_json::Value::as_str).collect();
                toml::Value::from(texts).to_string()
            }
            other => other.to_string(),
        };
        Self { text: Some(text), hides: false, source: Source::Admin }
    }
}

/// Formats the values of all settings. Must be called before the settings are parsed, which moves the secrets out of
/// `entries`.
pub(super) fn shown(entries: &Entries) -> BTreeMap<&'static str, Shown> {
    entries
        .iter()
        .map(|(key, entry)| {
            let (text, hides) = (text_of(key, &entry.value), hides(key, &entry.value));
            (*key, Shown { text, hides, source: entry.source.clone() })
        })
        .collect()
}

fn text_of(key: &str, value: &Value) -> Option<String> {
    let quoted = |text: String| toml::Value::String(text).to_string();
    match value {
        Value::Text(text) if is_address(key) => Some(quoted(without_password(text))),
        Value::Text(text) if keys::find(key).is_some_and(|key| key.kind == Kind::Share) => Some(text.clone()),
        Value::Text(text) => Some(quoted(text.clone())),
        Value::Boolean(flag) => Some(flag.to_string()),
        Value::Integer(number) => Some(number.to_string()),
        Value::List(items) => Some(toml::Value::from(items.clone()).to_string()),
        Value::Duration(time) => Some(quoted(duration::format(*time))),
        Value::Rate(rate) => Some(quoted(duration::format_rate(*rate))),
        Value::Secret(secret) if secret.reveal().is_empty() => None,
        Value::Secret(secret) => Some(quoted(secret.to_string())),
    }
}

fn hides(key: &str, value: &Value) -> bool {
    match value {
        Value::Secret(secret) => !secret.reveal().is_empty(),
        Value::Text(text) => is_address(key) && holds_password(text),
        _ => false,
    }
}

fn is_address(key: &str) -> bool {
    keys::find(key).is_some_and(|key| key.kind == Kind::Address)
}

pub(super) fn to_toml(shown: &BTreeMap<&'static str, Shown>) -> String {
    let mut text = String::from("# The settings in force. A settings file needs only what differs.\n");
    let mut section = "";
    let providers = shown.keys().copied().filter(|name| name.starts_with(PROVIDERS));
    for key in ITEMS.iter().map(|item| item.name).chain(providers) {
        let here = keys::section_of(key);
        if here != section {
            section = here;
            text.extend(["\n[", section, "]\n"]);
        }
        text.push_str(&line(&key[section.len() + 1..], shown.get(key)));
    }
    text
}

/// Returns each setting that is set as `{value, source}`. Secrets are `***`.
pub(super) fn to_json(shown: &BTreeMap<&'static str, Shown>) -> serde_json::Value {
    let entry = |(key, shown): (&&'static str, &Shown)| {
        let text = shown.text.as_deref().unwrap_or("\"\"");
        let value = text.parse::<toml::Value>().ok().and_then(|value| serde_json::to_value(value).ok());
        ((*key).to_owned(), serde_json::json!({"value": value, "source": shown.source.to_string()}))
    };
    shown.iter().map(entry).collect::<serde_json::Map<_, _>>().into()
}

fn line(name: &str, shown: Option<&Shown>) -> String {
    match shown {
        Some(Shown { text: Some(text), source, .. }) => format!("{name} = {text} # {source}\n"),
        Some(Shown { text: None, source, .. }) => format!("# {name} is empty # {source}\n"),
        None => format!("# {name} is not set\n"),
    }
}
