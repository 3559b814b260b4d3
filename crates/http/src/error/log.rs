//! Errors as text for the log: the chain of sources on one line, with control characters escaped against log forging.

use std::error::Error as StdError;
use std::fmt::Write;

/// Joins the messages of an error and of all its sources by ": ", with control characters escaped.
#[must_use]
pub fn chain_of(error: &(dyn StdError + 'static)) -> String {
    let mut chain = escape_control(&error.to_string());
    let mut next = error.source();
    while let Some(source) = next {
        let text = escape_control(&source.to_string());
        if !chain.ends_with(&text) {
            chain.push_str(": ");
            chain.push_str(&text);
        }
        next = source.source();
    }
    chain
}

/// Writes control characters, line separators and bidirectional overrides as `\u{…}`.
#[must_use]
pub fn escape_control(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if is_unsafe_in_a_line(character) {
            let _ = write!(escaped, "\\u{{{:x}}}", u32::from(character)); // writing to a String cannot fail
        } else {
            escaped.push(character);
        }
    }
    escaped
}

/// True for a character that could break or reorder a log line.
fn is_unsafe_in_a_line(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}
