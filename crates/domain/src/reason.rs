//! Reason codes of refused values: a closed list of stable words for programs. The messages for people are defined
//! with the types that refuse the values.

use std::fmt::Display;

use serde::{Serialize, Serializer};

/// Separates the reason code from the message in a serde error, which can carry only text. No message contains it.
const SEPARATOR: char = '\u{1f}';

macro_rules! reasons {
    ($($name:ident $word:literal $when:literal;)+) => {
        /// Reason code of a refused value: a stable word for programs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Reason {
            $(#[doc = $when] $name,)+
        }

        impl Reason {
            /// All reason codes, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Returns the word of the reason code, as in responses. It never changes.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word),+ }
            }

            /// Returns the condition under which the code is used, for the documentation.
            #[must_use]
            pub const fn when(self) -> &'static str {
                match self { $(Self::$name => $when),+ }
            }
        }
    };
}

reasons! {
    Required "required" "the value is missing, or empty where it must not be";
    WrongType "wrong_type" "the value has another JSON type, or is null";
    Duplicate "duplicate" "the value is given twice";
    Unknown "unknown" "no field or parameter of this name is known here";
    Malformed "malformed" "the text cannot be decoded: broken JSON or percent-encoding, no UTF-8, nested too deep";
    InvalidFormat "invalid_format" "the text does not have the form of this field";
    InvalidCharacters "invalid_characters" "the text has characters that this field refuses";
    TooShort "too_short" "the text has too few characters";
    TooLong "too_long" "the text has too many characters";
    TooLarge "too_large" "the value takes too many bytes, or has too many parts";
    OutOfRange "out_of_range" "the number is too small or too large";
    NotAllowed "not_allowed" "the value is not one of those that are allowed";
    Conflicting "conflicting" "the value does not go together with another one";
    Reserved "reserved" "the name is reserved";
    MissingNumber "missing_number" "the password has no digit";
    MissingLowercase "missing_lowercase" "the password has no lower-case letter";
    MissingUppercase "missing_uppercase" "the password has no upper-case letter";
    MissingSpecialChar "missing_special_char" "the password has no special character";
    TooCommon "too_common" "the password is one of the most common ones";
    ContainsEmail "contains_email" "the password contains the name part of the email address";
    ContainsServiceName "contains_service_name" "the password contains the name of this service";
}

impl Reason {
    /// Parses the word of a reason code, as in responses; `None` if unknown.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.as_str() == word)
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Creates a serde error that carries a reason code. [`split`] separates code and message again.
pub fn refusal<E: serde::de::Error>(reason: Reason, sentence: impl Display) -> E {
    E::custom(format_args!("{}{SEPARATOR}{sentence}", reason.as_str()))
}

/// Splits the text of a serde error into its reason code, if it has one, and its message.
#[must_use]
pub fn split(message: &str) -> (Option<Reason>, &str) {
    match message.split_once(SEPARATOR).map(|(word, sentence)| (Reason::parse(word), sentence)) {
        Some((Some(reason), sentence)) => (Some(reason), sentence),
        _ => (None, message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unique_and_read_back() {
        for (at, reason) in Reason::ALL.iter().enumerate() {
            assert_eq!(Reason::parse(reason.as_str()), Some(*reason));
            assert!(!Reason::ALL[at + 1..].iter().any(|other| other.as_str() == reason.as_str()));
        }
    }

    #[test]
    fn reason_survives_a_serde_error() {
        let error: serde_json::Error = refusal(Reason::TooLong, "must be shorter");
        assert_eq!(split(&error.to_string()), (Some(Reason::TooLong), "must be shorter"));
        assert_eq!(split("must be shorter"), (None, "must be shorter"));
        assert_eq!(split("x\u{1f}y"), (None, "x\u{1f}y"));
    }
}
