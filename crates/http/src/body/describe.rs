//! Turns a deserialisation error into a sentence about the field. Serde's messages quote the client's value, which may
//! be a password, so only the expected type is taken from them.

use latchkey_domain::reason::{self, Reason};
use serde_path_to_error::{Path, Segment};

use crate::error::{ApiError, codes, escape_control};

/// Maximum length, in characters, of a field's path quoted in an error message.
const PATH_SHOWN: usize = 200;

/// Builds the 400 error for the field at `path` from serde's `message`.
pub(super) fn describe(path: &Path, message: &str) -> ApiError {
    let place = place_of(path);
    if let Some(name) = quoted_after(message, "missing field `") {
        return ApiError::validation(&join(&place, name), "is required").reason(Reason::Required);
    }
    if let Some(name) = quoted_after(message, "duplicate field `") {
        let problem = "is given twice, under two names";
        return ApiError::validation(&join(&place, name), problem).reason(Reason::Duplicate);
    }
    // Messages of domain types begin with a reason code, which is split off here.
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

/// Maps one of serde's own messages to the machine-readable reason for the `reasons` of the error response.
fn reason_of(message: &str) -> Option<Reason> {
    let reasons = [
        ("invalid type: ", Reason::WrongType),
        ("invalid value: ", Reason::OutOfRange),
        ("invalid length ", Reason::OutOfRange),
        ("unknown variant ", Reason::NotAllowed),
    ];
    reasons.into_iter().find(|(start, _)| message.starts_with(start)).map(|(_, reason)| reason)
}

/// Rewords serde's message without the client's value.
fn problem_of(message: &str) -> String {
    let is_mismatch = ["invalid type: ", "invalid value: ", "invalid length ", "unknown variant "];
    if !is_mismatch.iter().any(|start| message.starts_with(start)) {
        return message.to_owned(); // the message comes from a domain type and needs no rewording
    }
    let wanted = message.rsplit_once("expected ").map_or("of another form", |(_, wanted)| wanted);
    let not_null = if message.starts_with("invalid type: null") { ", not null" } else { "" };
    format!("must be {}{not_null}", in_json_terms(wanted))
}

/// Translates Rust type names to JSON types.
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

/// Returns the name between `start` and the closing back quote.
fn quoted_after<'a>(message: &'a str, start: &str) -> Option<&'a str> {
    message.strip_prefix(start)?.strip_suffix('`')
}

/// Joins the path of an object and the name of a field in it with a dot.
fn join(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

/// Formats a path as the client would write it: `options.emailRedirectTo`, `userIds[2]`; empty for the body itself.
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
