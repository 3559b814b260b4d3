//! Texts with bounds: the macro that declares their types, and the rules that several types share.

use std::fmt::Write;

use crate::reason::Reason;

/// Maximum length, in characters, of a name that a user gives to a session, factor or passkey.
pub const LONGEST_OWN_NAME: usize = 64;

/// Declares a type for a text that obeys a rule, which is a parsing function.
macro_rules! bounded_text {
    ($(#[$doc:meta])* $name:ident, $error:ident, $parse:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Parses input; fails if it violates the rules of the type.
            pub fn parse(text: &str) -> Result<Self, $error> {
                let parse: fn(&str) -> Result<String, $error> = $parse;
                parse(text).map(Self)
            }

            /// Restores a stored value without a check.
            #[must_use]
            pub const fn from_stored(text: String) -> Self {
                Self(text)
            }

            /// Returns the text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Returns the text and consumes the value.
            #[must_use]
            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                Self::parse(&text).map_err(|error| $crate::reason::refusal(error.reason(), error))
            }
        }
    };
}
pub(crate) use bounded_text;

/// Error of parsing a name or a text about oneself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidText {
    /// The name is empty, or blank.
    #[error("must not be empty")]
    Empty,
    /// The text has more than this number of characters.
    #[error("must be at most {0} characters long")]
    Long(usize),
    /// The text contains control characters.
    #[error("must not contain control characters")]
    Control,
}

impl InvalidText {
    /// Returns the reason code of the error.
    #[must_use]
    pub const fn reason(self) -> Reason {
        match self {
            Self::Empty => Reason::TooShort,
            Self::Long(_) => Reason::TooLong,
            Self::Control => Reason::InvalidCharacters,
        }
    }
}

/// Parses a text of at most `longest` characters. Line breaks are allowed, other control characters are not.
pub(crate) fn bounded(text: &str, longest: usize) -> Result<String, InvalidText> {
    if text.chars().count() > longest { Err(InvalidText::Long(longest)) } else { Ok(text.to_owned()) }
}

/// Parses a text of at most `longest` characters, none of them a control character.
pub(crate) fn line(text: &str, longest: usize) -> Result<String, InvalidText> {
    if text.chars().any(char::is_control) { Err(InvalidText::Control) } else { bounded(text, longest) }
}

/// Parses a name that a user gives to a session, factor or passkey: 1 to 64 characters, without the white space around
/// it.
pub(crate) fn own_name(text: &str) -> Result<String, InvalidText> {
    let name = line(text, LONGEST_OWN_NAME)?.trim().to_owned();
    if name.is_empty() { Err(InvalidText::Empty) } else { Ok(name) }
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
