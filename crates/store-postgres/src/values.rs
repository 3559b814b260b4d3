//! Values of statement parameters. Each value knows its PostgreSQL type, so that no statement has to be prepared
//! first.

use std::error::Error;
use std::fmt;

use bytes::BytesMut;
use latchkey_store_operations::form;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;

/// Value of a statement parameter. `None` is null.
pub(crate) enum Value {
    Flag(bool),
    Int(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
    Id(Option<Uuid>),
    Trigrams(Vec<Option<i32>>),
    Ints(Vec<Option<i64>>),
    Texts(Vec<Option<String>>),
    Blobs(Vec<Option<Vec<u8>>>),
    Flags(Vec<Option<bool>>),
    Ids(Vec<Option<Uuid>>),
}

impl Value {
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

/// Writes only the type: values are email addresses, hashes and sealed secrets.
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
        true // every value states its own type
    }

    to_sql_checked!();
}

/// Converts every type that the shared operations use as a parameter ([`form::Value`]).
impl<T> From<T> for Value
where
    form::Value: From<T>,
{
    fn from(value: T) -> Self {
        match form::Value::from(value) {
            form::Value::Flag(flag) => Self::Flag(flag),
            form::Value::Int(number) => Self::Int(number),
            form::Value::Text(text) => Self::Text(text),
            form::Value::Bytes(bytes) => Self::Bytes(bytes),
            form::Value::Id(id) => Self::Id(id),
        }
    }
}

/// Makes the list of a statement's parameters, in the order of `$1`, `$2` ….
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$($crate::values::Value::from($value)),*]
    };
}
pub(crate) use values;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn a_value_does_not_show() {
        assert_eq!(format!("{:?}", Value::from("ada@example.org")), "text");
        assert_eq!(format!("{:?}", values![vec![7_u8], 5_i64]), "[bytea, int8]");
    }
}
