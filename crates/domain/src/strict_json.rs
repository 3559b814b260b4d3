//! Strict JSON parser: one object, no duplicate keys, no U+0000, no lone surrogates, limited depth. Request bodies and
//! records of an import are read with it; their types check the contents of the object.

use std::fmt::{self, Write};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::reason::Reason;
use crate::text::escape_control;

/// Maximum nesting; the document itself is at depth 1.
pub const DEPTH_LIMIT: usize = 32;

/// Maximum length, in characters, of a key quoted in an error message.
const KEY_SHOWN: usize = 64;

/// A parse error: a sentence that names the place in the document and never quotes the value.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct JsonProblem {
    /// Sentence about the problem.
    pub sentence: String,
    /// Reason code of the problem.
    pub reason: Reason,
    /// Path of the value, such as `metadata.tags[3]`; `None` for the document itself.
    pub field: Option<String>,
    /// Line of the problem, counted from 1.
    pub line: usize,
}

impl JsonProblem {
    /// Creates the problem of a document that is not JSON.
    const fn malformed(sentence: String) -> Self {
        Self { sentence, reason: Reason::Malformed, field: None, line: 1 }
    }
}

/// Parses one JSON object (RFC 8259) with nothing after it. Refuses invalid UTF-8, a byte order mark, a top level that
/// is not an object, duplicate keys at any depth, U+0000 and lone surrogates in texts and keys, nesting deeper than
/// [`DEPTH_LIMIT`], and numbers beyond the range of a double.
///
/// `noun` names the document in messages: `body` gives "The body must be a JSON object."
pub fn parse_object(noun: &'static str, bytes: &[u8]) -> Result<Map<String, Value>, JsonProblem> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| format!("The {noun} is not UTF-8 at byte {}.", error.valid_up_to()))
        .map_err(JsonProblem::malformed)?;
    if text.starts_with('\u{feff}') {
        return Err(JsonProblem::malformed(format!("The {noun} starts with a byte order mark.")));
    }

    let mut trail = Trail { noun, steps: Vec::new(), problem: None };
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict { trail: &mut trail }.deserialize(&mut reader);
    match value.and_then(|value| reader.end().map(|()| value)) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => {
            let sentence = format!("The {noun} must be a JSON object.");
            Err(JsonProblem { sentence, reason: Reason::WrongType, field: None, line: 1 })
        }
        Err(error) => {
            let problem = trail.problem.unwrap_or_else(|| {
                JsonProblem::malformed(format!("The {noun} is not well-formed JSON: {error}."))
            });
            Err(JsonProblem { line: error.line().max(1), ..problem })
        }
    }
}

/// State of the parser: the path to the current value, and the first problem found.
struct Trail {
    noun: &'static str,
    steps: Vec<Step>,
    problem: Option<JsonProblem>,
}

/// One segment of a path: an object's key or an array's index.
enum Step {
    Key(String),
    Index(usize),
}

impl Trail {
    /// Stores the problem. The returned error only makes serde stop.
    fn refuse<E: serde::de::Error>(&mut self, sentence: String, reason: Reason) -> E {
        let path = self.path();
        let field = (!path.is_empty()).then_some(path);
        self.problem = Some(JsonProblem { reason, field, ..JsonProblem::malformed(sentence) });
        E::custom("refused")
    }

    /// Refuses U+0000 in a text at the current path.
    fn check_text<E: serde::de::Error>(&mut self, text: &str) -> Result<(), E> {
        if text.contains('\0') {
            let problem = format!("{} must not contain the character U+0000.", self.place());
            return Err(self.refuse(problem, Reason::InvalidCharacters));
        }
        Ok(())
    }

    /// Refuses an object or array that is nested too deep. Each enclosing one is a segment of the path.
    fn check_depth<E: serde::de::Error>(&mut self) -> Result<(), E> {
        if self.steps.len() >= DEPTH_LIMIT {
            let problem = format!("The {} is nested deeper than {DEPTH_LIMIT} levels.", self.noun);
            return Err(self.refuse(problem, Reason::Malformed));
        }
        Ok(())
    }

    /// Returns the current path for messages: "`metadata.tags[3]`", or the name of the document.
    fn place(&self) -> String {
        let path = self.path();
        if path.is_empty() { format!("The {}", self.noun) } else { format!("`{path}`") }
    }

    /// Returns the current path for programs: `metadata.tags[3]`; empty for the document itself.
    fn path(&self) -> String {
        let mut path = String::new();
        for step in &self.steps {
            match step {
                Step::Key(key) if path.is_empty() => path.push_str(&shown(key)),
                Step::Key(key) => {
                    path.push('.');
                    path.push_str(&shown(key));
                }
                Step::Index(index) => {
                    let _ = write!(path, "[{index}]"); // writing to a String cannot fail
                }
            }
        }
        path
    }
}

/// Shortens a key for an error message and escapes control characters.
fn shown(key: &str) -> String {
    let start: String = key.chars().take(KEY_SHOWN).collect();
    escape_control(&start)
}

/// Serde visitor that reads the value at the current path.
struct Strict<'a> {
    trail: &'a mut Trail,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        self.trail.check_text(text)?;
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        self.trail.check_depth()?;
        let mut values = Vec::new();
        loop {
            self.trail.steps.push(Step::Index(values.len()));
            let next = access.next_element_seed(Strict { trail: self.trail })?;
            self.trail.steps.pop();
            match next {
                Some(value) => values.push(value),
                None => return Ok(Value::Array(values)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        self.trail.check_depth()?;
        let mut object = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            self.trail.steps.push(Step::Key(key.clone()));
            self.trail.check_text(&key)?;
            if object.contains_key(&key) {
                let problem = format!("{} is given twice.", self.trail.place());
                return Err(self.trail.refuse(problem, Reason::Duplicate));
            }
            let value = access.next_value_seed(Strict { trail: self.trail })?;
            self.trail.steps.pop();
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests;
