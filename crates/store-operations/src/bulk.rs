//! Building blocks to copy the whole database between engines: descriptions of the tables common to both engines,
//! generic rows, and the digest that compares two copies. The engines read and write the rows.
//!
//! Columns that an engine derives for its search index are not listed: the engine computes them when a row is written.
//! A test of the engines fails if a table or another column of the schema is missing here.

mod digest;

use std::fmt;

pub use digest::{Digest, TableDigest};

/// Type of a column, common to both engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Id,
    /// 64-bit integer, or a time in milliseconds since 1970.
    Int,
    Flag,
    Text,
    Bytes,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    /// Type of the column's non-null values.
    pub kind: Kind,
}

/// A table as both engines have it. Its columns begin with those of the primary key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    pub name: &'static str,
    /// Number of primary key columns.
    pub key: usize,
    /// All columns except those that an engine derives for its search index.
    pub columns: &'static [Column],
    /// True if the migrations insert the table's only row.
    pub is_seeded: bool,
}

/// Makes a list of [`Column`]s from pairs of type and name: `columns! { id user_id, text kind }`.
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
    /// Describes a table. Its first `key` columns are the primary key.
    #[must_use]
    pub const fn new(name: &'static str, key: usize, columns: &'static [Column]) -> Self {
        Self { name, key, columns, is_seeded: false }
    }

    #[must_use]
    pub const fn seeded(self) -> Self {
        Self { is_seeded: true, ..self }
    }

    #[must_use]
    pub fn column_names(&self) -> String {
        names(self.columns)
    }

    #[must_use]
    pub fn key_names(&self) -> String {
        names(&self.columns[..self.key])
    }

    /// Returns the text that identifies a row in messages: `users (id = …)`.
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

/// Values of a row's columns, in the order of [`Table::columns`].
pub type Row = Vec<Cell>;

/// Values of a row's primary key columns.
pub type Key = Vec<Cell>;

/// Value of one column in one row. Most values are personal or secret, so there is no `Debug`; `Display` is for
/// primary keys only.
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
