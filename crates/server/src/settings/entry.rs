//! One value of one key: its type, how it is read from text and from TOML, how it is shown.

use std::collections::BTreeMap;
use std::time::Duration;

use latchkey_domain::limits::Rate;

use super::duration;
use super::keys::Kind;
use super::secret::Secret;
use super::source::Source;

/// A value whose type is right; what it means is checked later.
#[derive(Debug)]
pub(super) enum Value {
    Text(String),
    Boolean(bool),
    Integer(u64),
    List(Vec<String>),
    Duration(Duration),
    Rate(Rate),
    Secret(Secret),
}

/// A value and where it comes from.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) value: Value,
    pub(super) source: Source,
}

/// The values in force by key. A key that is not set is absent.
pub(super) type Entries = BTreeMap<&'static str, Entry>;

/// A value of the wrong type: what was found there. What is wanted says [`Kind::wanted`].
pub(super) struct Found(pub(super) String);

/// Takes a value from TOML, where types are strict.
pub(super) fn from_toml(kind: Kind, value: toml::Value) -> Result<Value, Found> {
    match (kind, value) {
        (Kind::Boolean, toml::Value::Boolean(flag)) => Ok(Value::Boolean(flag)),
        (Kind::Integer { .. }, toml::Value::Integer(number)) => integer(kind, &number.to_string()),
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

/// Takes a value from a text, as the environment and `--set` have it.
pub(super) fn from_text(kind: Kind, text: String) -> Result<Value, Found> {
    let found = |text: &str| Found(format!("the text {text:?}"));
    match kind {
        Kind::Text | Kind::Address => Ok(Value::Text(text)),
        Kind::Secret => Ok(Value::Secret(Secret::new(text))),
        Kind::Choice(choices) if choices.contains(&text.as_str()) => Ok(Value::Text(text)),
        Kind::Boolean if text == "true" || text == "false" => Ok(Value::Boolean(text == "true")),
        Kind::Choice(_) | Kind::Boolean => Err(found(&text)),
        Kind::Integer { .. } => integer(kind, &text),
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

/// A TOML array, or items between commas without the white space around them.
fn list(text: &str) -> Result<Value, Found> {
    if text.trim_start().starts_with('[') {
        let document = format!("list = {text}");
        let parsed = document.parse::<toml::Table>().ok().and_then(|mut table| table.remove("list"));
        let array = parsed.ok_or_else(|| Found(format!("the text {text:?}")))?;
        return from_toml(Kind::List, array);
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
