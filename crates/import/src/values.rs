//! Values of rows. Files of the same format differ: a flag is `true`, `1` or `t`, and a time RFC 3339, PostgreSQL's text or
//! a number of seconds or milliseconds.

use latchkey_domain::time::Timestamp;
use serde_json::{Map, Value};

/// Numbers from this one on are milliseconds since 1970, smaller ones seconds: it is 1973 in milliseconds, and 5138 in
/// seconds.
const FIRST_MILLIS: i64 = 100_000_000_000;

/// Returns a value as text: a text itself, a number or a flag in its usual spelling. `None` for null and all else.
pub(crate) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A row: an object of the file.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(pub(crate) &'a Map<String, Value>);

impl<'a> Fields<'a> {
    /// Returns a value that is neither absent nor null nor an empty text.
    pub(crate) fn get(self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null() && value.as_str() != Some(""))
    }

    /// Returns the text of the first of these fields that has one.
    pub(crate) fn text(self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.get(name).and_then(text_of)).filter(|text| !text.is_empty())
    }

    pub(crate) fn flag(self, names: &[&str]) -> bool {
        let found = names.iter().find_map(|name| self.get(name));
        found.is_some_and(|value| flag_of(value).unwrap_or(false))
    }

    /// Returns an object, which may also be written as JSON in a text.
    pub(crate) fn object(self, name: &str) -> Option<Map<String, Value>> {
        match self.get(name)? {
            Value::Object(object) => Some(object.clone()),
            Value::String(text) => latchkey_domain::strict_json::parse_object("field", text.as_bytes()).ok(),
            _ => None,
        }
    }

    /// Returns the objects of a list, which may also be written as JSON in a text.
    pub(crate) fn objects(self, name: &str) -> Vec<Map<String, Value>> {
        let parsed;
        let list = match self.get(name) {
            Some(Value::Array(list)) => list,
            Some(Value::String(text)) => match objects_of_text(text) {
                Some(list) => {
                    parsed = list;
                    &parsed
                }
                None => return Vec::new(),
            },
            _ => return Vec::new(),
        };
        list.iter().filter_map(|one| one.as_object().cloned()).collect()
    }

    pub(crate) fn time(self, names: &[&str]) -> Option<Timestamp> {
        names.iter().find_map(|name| self.get(name)).and_then(time_of)
    }
}

/// Parses a list in a text by the strict rules, inside of an object.
fn objects_of_text(text: &str) -> Option<Vec<Value>> {
    let inside = format!("{{\"list\":{text}}}");
    let mut object = latchkey_domain::strict_json::parse_object("field", inside.as_bytes()).ok()?;
    match object.remove("list") {
        Some(Value::Array(list)) => Some(list),
        _ => None,
    }
}

pub(crate) fn flag_of(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => Some(number.as_i64() != Some(0)),
        Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "t" | "1" | "yes" => Some(true),
            "false" | "f" | "0" | "no" | "" => Some(false),
            _ => None,
        },
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

pub(crate) fn time_of(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Number(number) => number.as_i64().map(time_of_number),
        Value::String(text) => time_of_text(text.trim()),
        _ => None,
    }
}

fn time_of_number(number: i64) -> Timestamp {
    let is_millis = number.unsigned_abs() >= FIRST_MILLIS.unsigned_abs();
    Timestamp::from_millis(if is_millis { number } else { number.saturating_mul(1000) })
}

/// Parses RFC 3339, the text of PostgreSQL and of SQLite (a blank instead of `T`, a zone of two digits or none, which is
/// UTC), or a number.
fn time_of_text(text: &str) -> Option<Timestamp> {
    if let Some(time) = Timestamp::parse(text) {
        return Some(time);
    }
    if let Ok(number) = text.parse::<i64>() {
        return Some(time_of_number(number));
    }
    let text = text.trim_end_matches(" UTC").replacen(' ', "T", 1);
    let zone = text.get(19..).and_then(|rest| rest.find(['+', '-', 'Z']).map(|at| &rest[at..]));
    let whole = match zone {
        None => format!("{text}Z"),
        Some(zone) if zone.len() == 3 => format!("{text}:00"),
        Some(zone) if zone.len() == 5 && !zone.contains(':') => {
            let (start, minutes) = text.split_at(text.len() - 2);
            format!("{start}:{minutes}")
        }
        Some(_) => text,
    };
    Timestamp::parse(&whole)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_of_all_sources_are_read() {
        let noon = Some(Timestamp::from_millis(1_772_366_400_000));
        for value in [
            json!("2026-03-01T12:00:00Z"),
            json!("2026-03-01 12:00:00+00"),
            json!("2026-03-01 13:00:00.000+0100"),
            json!("2026-03-01 12:00:00.000Z"),
            json!("2026-03-01 12:00:00"),
            json!("2026-03-01 12:00:00 UTC"),
            json!(1_772_366_400),
            json!(1_772_366_400_000_i64),
            json!("1772366400000"),
        ] {
            assert_eq!(time_of(&value), noon, "{value}");
        }
        assert_eq!(time_of(&json!("soon")), None);
    }

    #[test]
    fn flags_of_all_sources_are_read() {
        for yes in [json!(true), json!("t"), json!("TRUE"), json!(1), json!("1")] {
            assert_eq!(flag_of(&yes), Some(true), "{yes}");
        }
        for no in [json!(false), json!("f"), json!(0), json!("")] {
            assert_eq!(flag_of(&no), Some(false), "{no}");
        }
        assert_eq!(flag_of(&json!("perhaps")), None);
    }
}
