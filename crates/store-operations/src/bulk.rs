//! Copying a whole instance between engines: the tables common to both, rows of any table, and the digest that
//! compares two copies. Reading and writing rows is the engines' part.
//!
//! Derived columns (kept by an engine for its search index) are not listed: the writer of a row computes them. A
//! test of the engines fails if a table or column of the schema is missing here.

mod digest;

use std::fmt;

pub use digest::{Digest, TableDigest};

/// Type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// UUID.
    Id,
    /// 64-bit integer, or a time in milliseconds since 1970.
    Int,
    /// Boolean.
    Flag,
    /// UTF-8 text.
    Text,
    /// Byte string.
    Bytes,
}

/// A column.
#[derive(Debug, PartialEq, Eq)]
pub struct Column {
    /// Name, the same in every engine.
    pub name: &'static str,
    /// Type of its non-null values.
    pub kind: Kind,
}

/// A table. The columns of its primary key come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Name, the same in every engine.
    pub name: &'static str,
    /// Number of primary key columns.
    pub key: usize,
    /// All columns except derived ones.
    pub columns: &'static [Column],
    /// True if the migrations insert its row.
    pub is_seeded: bool,
}

/// Columns of a table: the kind and the name of each.
macro_rules! columns {
    (@kind id) => { $crate::bulk::Kind::Id };
    (@kind int) => { $crate::bulk::Kind::Int };
    (@kind flag) => { $crate::bulk::Kind::Flag };
    (@kind text) => { $crate::bulk::Kind::Text };
    (@kind bytes) => { $crate::bulk::Kind::Bytes };
    ($($kind:ident $name:ident),+) => {
        &[$($crate::bulk::Column { name: stringify!($name), kind: $crate::bulk::columns!(@kind $kind) }),+]
    };
}
pub(crate) use columns;

impl Table {
    /// Table with these columns; the first `key` are the primary key.
    #[must_use]
    pub const fn new(name: &'static str, key: usize, columns: &'static [Column]) -> Self {
        Self { name, key, columns, is_seeded: false }
    }

    /// Marks the table as seeded by the migrations.
    #[must_use]
    pub const fn seeded(self) -> Self {
        Self { is_seeded: true, ..self }
    }

    /// Comma-separated names of all columns.
    #[must_use]
    pub fn column_names(&self) -> String {
        names(self.columns)
    }

    /// Comma-separated names of the key columns.
    #[must_use]
    pub fn key_names(&self) -> String {
        names(&self.columns[..self.key])
    }

    /// Readable name of a row: `users (id = …)`.
    #[must_use]
    pub fn name_of(&self, row: &[Cell]) -> String {
        let keys = self.columns[..self.key].iter().zip(row);
        let parts: Vec<_> = keys.map(|(column, cell)| format!("{} = {cell}", column.name)).collect();
        format!("{} ({})", self.name, parts.join(", "))
    }
}

fn names(columns: &[Column]) -> String {
    columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ")
}

/// Values of all columns, in order.
pub type Row = Vec<Cell>;

/// Values of the key columns.
pub type Key = Vec<Cell>;

/// A single value. Most are personal or secret, so there is no `Debug`; `Display` is for keys.
#[derive(Clone, PartialEq, Eq)]
pub enum Cell {
    Null,
    Id([u8; 16]),
    Int(i64),
    Flag(bool),
    Text(String),
    Bytes(Vec<u8>),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Id(bytes) => write!(f, "{}", uuid::Uuid::from_bytes(*bytes)),
            Self::Int(number) => write!(f, "{number}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Bytes(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}
