//! Values of statement parameters.

use std::fmt;

use latchkey_domain::codes::{CodeMac, Purpose};
use latchkey_domain::email::EmailKey;
use latchkey_domain::limits::LimitKey;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{StoreError, StoreResult};
use serde_json::Map;
use uuid::Uuid;

/// Value of a statement parameter, of a type that both engines have. `None` is null.
#[derive(Clone, PartialEq)]
pub enum Value {
    /// Boolean, stored as 0 or 1 in SQLite.
    Flag(bool),
    /// Integer, or a time in milliseconds since 1970.
    Int(Option<i64>),
    /// Text without U+0000.
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
    /// UUID, stored as a blob of 16 bytes in SQLite.
    Id(Option<Uuid>),
}

/// Writes the type of the value only: values are email addresses, hashes and sealed secrets.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flag(_) => "flag",
            Self::Int(_) => "int",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytes",
            Self::Id(_) => "id",
        })
    }
}

/// Makes the list of a statement's parameters, in the order of `$1`, `$2` ….
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::form::Value::from($value)),*]
    };
}
pub(crate) use values;

/// Encodes an object as JSON text.
pub fn object_text(object: &Map<String, serde_json::Value>) -> StoreResult<String> {
    serde_json::to_string(object).map_err(|error| StoreError::Driver(Box::new(error)))
}

/// Replaces U+0000 by U+FFFD. PostgreSQL rejects U+0000, and SQLite's full-text index stops at it. Input validation
/// already refuses U+0000.
pub(crate) fn clean(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{FFFD}") } else { text }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Flag(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(Some(value))
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Int(Some(i64::from(value)))
    }
}

impl From<Option<i64>> for Value {
    fn from(value: Option<i64>) -> Self {
        Self::Int(value)
    }
}

impl From<Timestamp> for Value {
    fn from(value: Timestamp) -> Self {
        Self::Int(Some(value.as_millis()))
    }
}

impl From<Option<Timestamp>> for Value {
    fn from(value: Option<Timestamp>) -> Self {
        Self::Int(value.map(Timestamp::as_millis))
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(Some(clean(value)))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::from(value.to_owned())
    }
}

impl From<Option<String>> for Value {
    fn from(value: Option<String>) -> Self {
        Self::Text(value.map(clean))
    }
}

impl From<Option<&str>> for Value {
    fn from(value: Option<&str>) -> Self {
        Self::from(value.map(str::to_owned))
    }
}

impl From<&EmailKey> for Value {
    fn from(value: &EmailKey) -> Self {
        Self::from(value.as_str())
    }
}

impl From<Purpose> for Value {
    fn from(value: Purpose) -> Self {
        Self::from(value.as_str())
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(Some(value))
    }
}

impl From<Option<Vec<u8>>> for Value {
    fn from(value: Option<Vec<u8>>) -> Self {
        Self::Bytes(value)
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Bytes(Some(value.to_vec()))
    }
}

impl From<&TokenHash> for Value {
    fn from(value: &TokenHash) -> Self {
        Self::from(value.as_bytes().as_slice())
    }
}

impl From<Option<&TokenHash>> for Value {
    fn from(value: Option<&TokenHash>) -> Self {
        Self::from(value.map(|hash| hash.as_bytes().to_vec()))
    }
}

impl From<&CodeMac> for Value {
    fn from(value: &CodeMac) -> Self {
        Self::from(value.as_bytes().as_slice())
    }
}

impl From<Option<&LimitKey>> for Value {
    fn from(value: Option<&LimitKey>) -> Self {
        Self::Bytes(value.map(|key| key.as_bytes().to_vec()))
    }
}

impl From<&LimitKey> for Value {
    fn from(value: &LimitKey) -> Self {
        Self::from(value.as_bytes().as_slice())
    }
}

/// Makes an id type usable as a parameter. Called in the file of the table whose primary key has the type.
macro_rules! stored_id {
    ($name:ty) => {
        impl From<$name> for $crate::form::Value {
            fn from(id: $name) -> Self {
                Self::Id(Some(id.as_uuid()))
            }
        }

        impl From<Option<$name>> for $crate::form::Value {
            fn from(id: Option<$name>) -> Self {
                Self::Id(id.map(|id| id.as_uuid()))
            }
        }
    };
}
pub(crate) use stored_id;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_does_not_show() {
        assert_eq!(format!("{:?}", Value::from("ada@example.org")), "text");
        assert_eq!(format!("{:?}", values![vec![7_u8], 5_i64]), "[bytes, int]");
    }

    #[test]
    fn a_null_character_is_replaced() {
        assert!(Value::from("a\0b") == Value::from("a\u{FFFD}b"));
    }
}
