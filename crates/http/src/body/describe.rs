//! Turns a failed deserialisation into a sentence about the field. The texts of serde repeat the client's value,
//! which may be a password: only what was wanted is taken from them.

use latchkey_domain::reason::{self, Reason};
use serde_path_to_error::{Path, Segment};

use crate::error::{ApiError, codes, escape_control};

/// Most characters of a path that a message repeats.
const PATH_SHOWN: usize = 200;

/// The refusal for a failure at `path` with serde's `message`.
pub(super) fn describe(path: &Path, message: &str) -> ApiError {
    let place = place_of(path);
    if let Some(name) = quoted_after(message, "missing field `") {
        return ApiError::validation(&join(&place, name), "is required").reason(Reason::Required);
    }
    if let Some(name) = quoted_after(message, "duplicate field `") {
        let problem = "is given twice, under two names";
        return ApiError::validation(&join(&place, name), problem).reason(Reason::Duplicate);
    }
    // A domain type says its reason itself.
    let (said, message) = reason::split(message);
    let problem = problem_of(message);
    let error = if place.is_empty() {
        ApiError::new(&codes::VALIDATION_ERROR, format!("The body {problem}"))
    } else {
        ApiError::validation(&place, &problem)
    };
    match said.or_else(|| reason_of(message)) {
        Some(reason) => error.reason(reason),
        None => error,
    }
}

/// The reason behind one of serde's own messages.
fn reason_of(message: &str) -> Option<Reason> {
    let reasons = [
        ("invalid type: ", Reason::WrongType),
        ("invalid value: ", Reason::OutOfRange),
        ("invalid length ", Reason::OutOfRange),
        ("unknown variant ", Reason::NotAllowed),
    ];
    reasons.into_iter().find(|(start, _)| message.starts_with(start)).map(|(_, reason)| reason)
}

/// The part of serde's message about the value, without the value.
fn problem_of(message: &str) -> String {
    let is_mismatch = ["invalid type: ", "invalid value: ", "invalid length ", "unknown variant "];
    if !is_mismatch.iter().any(|start| message.starts_with(start)) {
        return message.to_owned(); // the domain type's own words
    }
    let wanted = message.rsplit_once("expected ").map_or("of another form", |(_, wanted)| wanted);
    let not_null = if message.starts_with("invalid type: null") { ", not null" } else { "" };
    format!("must be {}{not_null}", in_json_terms(wanted))
}

/// Names of Rust types in the words of JSON.
fn in_json_terms(wanted: &str) -> &str {
    match wanted {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a non-negative integer",
        "i8" | "i16" | "i32" | "i64" | "isize" => "an integer",
        "f32" | "f64" => "a number",
        "a map" => "an object",
        "a sequence" => "an array",
        "a borrowed string" | "a character" => "a string",
        wanted if wanted.starts_with("struct ") => "an object",
        wanted => wanted,
    }
}

/// The name between the back quotes after `start`.
fn quoted_after<'a>(message: &'a str, start: &str) -> Option<&'a str> {
    message.strip_prefix(start)?.strip_suffix('`')
}

/// A field below a place.
fn join(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

/// The path as the client would write it: `options.emailRedirectTo`, `userIds[2]`; empty for the body itself.
fn place_of(path: &Path) -> String {
    let mut place = String::new();
    for segment in path {
        match segment {
            Segment::Map { key } => place = join(&place, key),
            Segment::Seq { index } => place = format!("{place}[{index}]"),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    let shown: String = place.chars().take(PATH_SHOWN).collect();
    escape_control(&shown)
}
