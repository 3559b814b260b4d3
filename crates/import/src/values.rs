//! Values of rows. Files of the same format differ: a flag is `true`, `1` or `t`, and a time RFC 3339, PostgreSQL's text or
//! a number of seconds or milliseconds.

use std::cell::RefCell;

use latchkey_domain::imports::{Problem, ProblemCode};
use latchkey_domain::time::Timestamp;
use serde_json::{Map, Value};

use crate::problems::Problems;

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

/// Problems of the values of a row that cannot be read. A format reads many values, and each adds its problem here.
#[derive(Default)]
pub(crate) struct Drops(RefCell<Problems>);

impl Drops {
    pub(crate) fn into_problems(self) -> Problems {
        self.0.into_inner()
    }
}

/// A row: an object of the file, or one inside of it. A value that is there and cannot be read is as good as absent, and
/// reported. This is the one place that does so.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    map: &'a Map<String, Value>,
    /// Field that the object is in; `None` for the row itself.
    of: Option<&'a str>,
    drops: &'a Drops,
}

impl<'a> Fields<'a> {
    pub(crate) const fn new(map: &'a Map<String, Value>, drops: &'a Drops) -> Self {
        Self { map, of: None, drops }
    }

    /// Returns the fields of an object inside of this one.
    pub(crate) const fn within<'b>(self, of: &'b str, map: &'b Map<String, Value>) -> Fields<'b>
    where
        'a: 'b,
    {
        Fields { map, of: Some(of), drops: self.drops }
    }

    pub(crate) const fn map(self) -> &'a Map<String, Value> {
        self.map
    }

    /// Returns a value that is neither absent nor null nor an empty text.
    pub(crate) fn get(self, name: &str) -> Option<&'a Value> {
        self.map.get(name).filter(|value| !value.is_null() && value.as_str() != Some(""))
    }

    /// Reads the first of these fields that has a value. One that cannot be read is reported.
    pub(crate) fn read<T>(
        self,
        names: &[&str],
        wanted: &str,
        parse: impl Fn(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let (name, value) = names.iter().find_map(|name| Some((*name, self.get(name)?)))?;
        let read = parse(value);
        if read.is_none() {
            self.drop_field(name, wanted);
        }
        read
    }

    fn drop_field(self, name: &str, message: &str) {
        let name = self.of.map_or_else(|| name.to_owned(), |of| format!("{of}.{name}"));
        self.drops.0.borrow_mut().note(Problem::of(ProblemCode::FieldDropped, &name, message));
    }

    pub(crate) fn text(self, names: &[&str]) -> Option<String> {
        self.read(names, "is no text", text_of)
    }

    pub(crate) fn flag(self, names: &[&str]) -> Option<bool> {
        self.read(names, "is no flag", flag_of)
    }

    pub(crate) fn time(self, names: &[&str]) -> Option<Timestamp> {
        self.read(names, "is no time, or one before 1970", time_of)
    }

    /// Returns an object, which may also be written as JSON in a text.
    pub(crate) fn object(self, names: &[&str]) -> Option<Map<String, Value>> {
        self.read(names, "is no JSON object", |value| match value {
            Value::Object(object) => Some(object.clone()),
            Value::String(text) => latchkey_domain::strict_json::parse_object("field", text.as_bytes()).ok(),
            _ => None,
        })
    }

    /// Returns a list, which may also be written as JSON in a text. An absent one is empty.
    pub(crate) fn list(self, name: &str) -> Vec<Value> {
        let list = self.read(&[name], "is no list", |value| match value {
            Value::Array(list) => Some(list.clone()),
            Value::String(text) => list_of_text(text),
            _ => None,
        });
        list.unwrap_or_default()
    }

    /// Returns the objects of a list.
    pub(crate) fn objects(self, name: &str) -> Vec<Map<String, Value>> {
        let object = |value| {
            if let Value::Object(object) = value {
                return Some(object);
            }
            self.drop_field(name, "has an element that is no object");
            None
        };
        self.list(name).into_iter().filter_map(object).collect()
    }
}

/// Parses a list in a text by the strict rules, inside of an object.
fn list_of_text(text: &str) -> Option<Vec<Value>> {
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
        Value::Number(number) => match number.as_i64() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        },
        Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "t" | "1" | "yes" => Some(true),
            "false" | "f" | "0" | "no" | "" => Some(false),
            _ => None,
        },
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

pub(crate) fn time_of(value: &Value) -> Option<Timestamp> {
    let time = match value {
        Value::Number(number) => number.as_i64().map(time_of_number),
        Value::String(text) => time_of_text(text.trim()),
        _ => None,
    };
    time.filter(|time| time.as_millis() > 0)
}

fn time_of_number(number: i64) -> Timestamp {
    let is_millis = number.unsigned_abs() >= FIRST_MILLIS.unsigned_abs();
    Timestamp::from_millis(if is_millis { number } else { number.saturating_mul(1000) })
}

/// Parses RFC 3339, the text of PostgreSQL and of SQLite (a blank instead of `T`, a zone of two digits or none, which is
/// UTC), or a number.
fn time_of_text(text: &str) -> Option<Timestamp> {
    if !text.is_ascii() {
        return None;
    }
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
    fn text_with_other_letters_in_its_zone_is_no_time() {
        assert_eq!(time_of(&json!("2026-03-01 13:00:00+1é2")), None);
    }

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
        for bad in [json!("soon"), json!(0), json!(true), json!("1969-12-31")] {
            assert_eq!(time_of(&bad), None, "{bad}");
        }
    }

    #[test]
    fn flags_of_all_sources_are_read() {
        for yes in [json!(true), json!("t"), json!("TRUE"), json!(1), json!("1")] {
            assert_eq!(flag_of(&yes), Some(true), "{yes}");
        }
        for no in [json!(false), json!("f"), json!(0), json!("")] {
            assert_eq!(flag_of(&no), Some(false), "{no}");
        }
        for bad in [json!("perhaps"), json!(7), json!(0.5), json!([])] {
            assert_eq!(flag_of(&bad), None, "{bad}");
        }
    }
}
