//! Errors as text for the log: the chain of sources on one line, with control characters escaped against log forging.

use std::error::Error as StdError;

pub use latchkey_domain::text::escape_control;

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
