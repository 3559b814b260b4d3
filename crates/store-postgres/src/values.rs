//! Statement parameters: each value knows its PostgreSQL type, so that no statement has to be prepared first.

use std::error::Error;
use std::fmt;

use bytes::BytesMut;
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::SessionId;
use latchkey_domain::time::Timestamp;
use latchkey_store_operations::form;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

/// A parameter.
pub(crate) enum Value {
    Flag(bool),
    Int(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
    Id(Option<Uuid>),
    Trigrams(Vec<i32>),
    Ints(Vec<Option<i64>>),
    Texts(Vec<Option<String>>),
    Blobs(Vec<Option<Vec<u8>>>),
    Flags(Vec<Option<bool>>),
    Ids(Vec<Option<Uuid>>),
}

impl Value {
    /// PostgreSQL type.
    pub(crate) const fn kind(&self) -> Type {
        match self {
            Self::Flag(_) => Type::BOOL,
            Self::Int(_) => Type::INT8,
            Self::Text(_) => Type::TEXT,
            Self::Bytes(_) => Type::BYTEA,
            Self::Id(_) => Type::UUID,
            Self::Trigrams(_) => Type::INT4_ARRAY,
            Self::Ints(_) => Type::INT8_ARRAY,
            Self::Texts(_) => Type::TEXT_ARRAY,
            Self::Blobs(_) => Type::BYTEA_ARRAY,
            Self::Flags(_) => Type::BOOL_ARRAY,
            Self::Ids(_) => Type::UUID_ARRAY,
        }
    }
}

/// Redacted: values are addresses, hashes and sealed secrets.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind().name())
    }
}

impl ToSql for Value {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Flag(value) => value.to_sql(kind, out),
            Self::Int(value) => value.to_sql(kind, out),
            Self::Text(value) => value.to_sql(kind, out),
            Self::Bytes(value) => value.to_sql(kind, out),
            Self::Id(value) => value.to_sql(kind, out),
            Self::Trigrams(values) => values.to_sql(kind, out),
            Self::Ints(values) => values.to_sql(kind, out),
            Self::Texts(values) => values.to_sql(kind, out),
            Self::Blobs(values) => values.to_sql(kind, out),
            Self::Flags(values) => values.to_sql(kind, out),
            Self::Ids(values) => values.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true // the type is always the one that the value names itself
    }

    to_sql_checked!();
}

impl From<form::Value> for Value {
    fn from(value: form::Value) -> Self {
        match value {
            form::Value::Flag(flag) => Self::Flag(flag),
            form::Value::Int(number) => Self::Int(number),
            form::Value::Text(text) => Self::Text(text),
            form::Value::Bytes(bytes) => Self::Bytes(bytes),
            form::Value::Id(id) => Self::Id(id),
        }
    }
}

/// Parameter list in positional order.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::values::Value::from($value)),*]
    };
}
pub(crate) use values;

/// Replaces U+0000, which PostgreSQL rejects, by U+FFFD. Input validation already excludes it.
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

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(Some(value))
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Bytes(Some(value.to_vec()))
    }
}

impl From<SessionId> for Value {
    fn from(value: SessionId) -> Self {
        Self::Id(Some(value.as_uuid()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn a_value_does_not_show() {
        assert_eq!(format!("{:?}", Value::from("ada@example.org")), "text");
        assert_eq!(format!("{:?}", values![vec![7_u8], 5_i64]), "[bytea, int8]");
    }

    #[test]
    fn a_null_character_is_replaced() {
        let Value::Text(Some(text)) = Value::from("a\0b") else { panic!("a text") };
        assert_eq!(text, "a\u{FFFD}b");
    }
}
