//! Conversion of values to SQLite's parameters, and access to its rows. A UUID is stored as a blob of 16 bytes, a
//! boolean as 0 or 1.

use latchkey_store_operations::form::{Cell, Row, Value, WrongKind};
use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, Value as Owned, ValueRef};
use uuid::Uuid;

/// Adapter that passes a [`Value`] to SQLite as a statement parameter.
pub(crate) struct Parameter<'v>(pub(crate) &'v Value);

impl ToSql for Parameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let borrowed = match self.0 {
            Value::Flag(flag) => return Ok(ToSqlOutput::Owned(Owned::Integer(i64::from(*flag)))),
            Value::Int(Some(number)) => return Ok(ToSqlOutput::Owned(Owned::Integer(*number))),
            Value::Text(Some(text)) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(Some(bytes)) => ValueRef::Blob(bytes),
            Value::Id(Some(id)) => ValueRef::Blob(id.as_bytes()),
            Value::Int(None) | Value::Text(None) | Value::Bytes(None) | Value::Id(None) => ValueRef::Null,
        };
        Ok(ToSqlOutput::Borrowed(borrowed))
    }
}

/// Adapter that reads a row of a running statement as a [`Row`].
pub(crate) struct SqliteRow<'r>(pub(crate) &'r rusqlite::Row<'r>);

impl SqliteRow<'_> {
    fn cell<'s, T>(&'s self, at: usize, read: impl FnOnce(ValueRef<'s>) -> Option<T>) -> Cell<T> {
        match self.0.get_ref(at).map_err(|_| WrongKind)? {
            ValueRef::Null => Ok(None),
            value => read(value).map(Some).ok_or(WrongKind),
        }
    }
}

impl Row for SqliteRow<'_> {
    fn int(&self, at: usize) -> Cell<i64> {
        self.cell(at, |value| value.as_i64().ok())
    }

    fn flag(&self, at: usize) -> Cell<bool> {
        self.cell(at, |value| match value {
            ValueRef::Integer(0) => Some(false),
            ValueRef::Integer(1) => Some(true),
            _ => None,
        })
    }

    fn text(&self, at: usize) -> Cell<&str> {
        self.cell(at, |value| value.as_str().ok())
    }

    fn bytes(&self, at: usize) -> Cell<&[u8]> {
        self.cell(at, |value| value.as_blob().ok())
    }

    fn id(&self, at: usize) -> Cell<Uuid> {
        self.cell(at, |value| Some(Uuid::from_bytes(value.as_blob().ok()?.try_into().ok()?)))
    }

    fn is_null(&self, at: usize) -> bool {
        matches!(self.0.get_ref(at), Ok(ValueRef::Null))
    }
}
