//! Values of settings, parsed from text or TOML according to their kind.

use std::collections::BTreeMap;
use std::time::Duration;

use latchkey_domain::limits::Rate;

use crate::duration;
use crate::item::Kind;
use crate::secret::Secret;
use crate::source::Source;

/// Value that matches the kind of its setting.
#[derive(Debug)]
pub enum Value {
    /// Text, or one of the words of a choice.
    Text(String),
    Boolean(bool),
    Integer(u64),
    List(Vec<String>),
    Duration(Duration),
    Rate(Rate),
    Secret(Secret),
}

#[derive(Debug)]
pub struct Entry {
    pub value: Value,
    pub source: Source,
}

/// Merged values by key. Keys that are not set are absent.
pub type Entries = BTreeMap<&'static str, Entry>;

/// Returns the text value of a key; empty if the key is not set or has another type.
#[must_use]
pub fn text_of<'a>(entries: &'a Entries, key: &str) -> &'a str {
    match entries.get(key).map(|entry| &entry.value) {
        Some(Value::Text(text)) => text,
        _ => "",
    }
}

/// Error of a value of the wrong kind: a description of the value.
pub struct Found(pub String);

/// Parses a TOML value. Booleans, numbers and lists must have the TOML type of their kind.
pub fn from_toml(kind: Kind, value: toml::Value) -> Result<Value, Found> {
    match (kind, value) {
        (Kind::Boolean, toml::Value::Boolean(flag)) => Ok(Value::Boolean(flag)),
        (Kind::Integer { .. }, toml::Value::Integer(number)) => integer(kind, &number.to_string()),
        (Kind::Share, toml::Value::Float(number)) => from_text(kind, number.to_string()),
        (Kind::Share, toml::Value::Integer(number)) => from_text(kind, number.to_string()),
        (Kind::List, toml::Value::Array(items)) => {
            let texts = items.into_iter().map(|item| match item {
                toml::Value::String(text) => Ok(text),
                other => Err(Found(format!("{} in the list", describe(&other)))),
            });
            texts.collect::<Result<_, _>>().map(Value::List)
        }
        (kind, toml::Value::String(text)) if !kind.is_strict() => from_text(kind, text),
        (_, other) => Err(Found(describe(&other))),
    }
}

/// Parses a TOML expression such as `"15m"` or `[]`.
pub(crate) fn from_toml_text(kind: Kind, text: &str) -> Result<Value, Found> {
    let parsed = format!("value = {text}").parse::<toml::Table>().ok();
    let value = parsed.and_then(|mut table| table.remove("value"));
    from_toml(kind, value.ok_or_else(|| Found(format!("the text {text:?}")))?)
}

/// Parses a value of an environment variable or of `--set`.
pub fn from_text(kind: Kind, text: String) -> Result<Value, Found> {
    let found = |text: &str| Found(format!("the text {text:?}"));
    match kind {
        Kind::Text | Kind::Address => Ok(Value::Text(text)),
        Kind::Secret => Ok(Value::Secret(Secret::new(text))),
        Kind::Choice(choices) if choices.contains(&text.as_str()) => Ok(Value::Text(text)),
        Kind::Boolean if text == "true" || text == "false" => Ok(Value::Boolean(text == "true")),
        Kind::Choice(_) | Kind::Boolean => Err(found(&text)),
        Kind::Integer { .. } => integer(kind, &text),
        Kind::Share => match text.parse::<f64>() {
            Ok(share) if (0.0..=1.0).contains(&share) => Ok(Value::Text(text)),
            _ => Err(found(&text)),
        },
        Kind::List => list(&text),
        Kind::Duration | Kind::DurationOrZero => duration::parse(&text)
            .filter(|duration| kind == Kind::DurationOrZero || !duration.is_zero())
            .map(Value::Duration)
            .ok_or_else(|| found(&text)),
        Kind::Rate => duration::parse_rate(&text).map(Value::Rate).ok_or_else(|| found(&text)),
    }
}

fn integer(kind: Kind, text: &str) -> Result<Value, Found> {
    let is_plain = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|number| is_plain && kind.allows(*number))
        .map(Value::Integer)
        .ok_or_else(|| Found(format!("{text:?}")))
}

/// Parses a list: a TOML array, or comma-separated items without surrounding white space.
fn list(text: &str) -> Result<Value, Found> {
    if text.trim_start().starts_with('[') {
        return from_toml_text(Kind::List, text);
    }
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    Ok(Value::List(items.map(str::to_owned).collect()))
}

fn describe(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => format!("the text {text:?}"),
        toml::Value::Integer(number) => format!("the number {number}"),
        toml::Value::Float(number) => format!("the number {number}"),
        toml::Value::Boolean(flag) => format!("{flag}"),
        toml::Value::Datetime(moment) => format!("the date {moment}"),
        toml::Value::Array(_) => "a list".to_owned(),
        toml::Value::Table(_) => "a section".to_owned(),
    }
}
