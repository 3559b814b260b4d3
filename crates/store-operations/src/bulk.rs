//! Moving a whole instance between engines: the tables as both engines have them, a row of any of them, and the
//! digest by which two copies of a table are compared. Reading and writing rows is the engines' part.
//!
//! Derived columns (what an engine keeps for its search index alone) are not named here: whoever writes a row makes
//! them anew. A test of the engines fails where a table or column of the schema is missing.

mod digest;

use std::fmt;

pub use digest::{Digest, TableDigest};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A UUID.
    Id,
    /// A number of 64 bits; a time in milliseconds.
    Int,
    /// Yes or no.
    Flag,
    /// Text in UTF-8.
    Text,
    /// Bytes.
    Bytes,
}

/// A column.
#[derive(Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, in every engine.
    pub name: &'static str,
    /// What it holds, unless it is null.
    pub kind: Kind,
}

/// A table. The columns of the primary key are its first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Its name, in every engine.
    pub name: &'static str,
    /// How many of its columns are the primary key.
    pub key: usize,
    /// All columns but derived ones.
    pub columns: &'static [Column],
    /// Whether the migrations put a row into it.
    pub is_seeded: bool,
}

impl Column {
    /// A UUID.
    #[must_use]
    pub const fn id(name: &'static str) -> Self {
        Self { name, kind: Kind::Id }
    }

    /// A number or a time.
    #[must_use]
    pub const fn int(name: &'static str) -> Self {
        Self { name, kind: Kind::Int }
    }

    /// Yes or no.
    #[must_use]
    pub const fn flag(name: &'static str) -> Self {
        Self { name, kind: Kind::Flag }
    }

    /// A text.
    #[must_use]
    pub const fn text(name: &'static str) -> Self {
        Self { name, kind: Kind::Text }
    }

    /// Bytes.
    #[must_use]
    pub const fn bytes(name: &'static str) -> Self {
        Self { name, kind: Kind::Bytes }
    }
}

impl Table {
    /// A table of these columns; the first `key` are its primary key.
    #[must_use]
    pub const fn new(name: &'static str, key: usize, columns: &'static [Column]) -> Self {
        Self { name, key, columns, is_seeded: false }
    }

    /// The same with a row that the migrations write.
    #[must_use]
    pub const fn seeded(self) -> Self {
        Self { is_seeded: true, ..self }
    }

    /// The names of all columns, as a statement lists them.
    #[must_use]
    pub fn column_names(&self) -> String {
        names(self.columns)
    }

    /// The names of the key's columns, as a statement lists them.
    #[must_use]
    pub fn key_names(&self) -> String {
        names(&self.columns[..self.key])
    }

    /// Which row it is, for a person: `users (id = …)`.
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

/// A row: the cells of all columns in their order.
pub type Row = Vec<Cell>;

/// The key of a row: the cells of the key's columns.
pub type Key = Vec<Cell>;

/// One value. Most are personal or secret, so this has no `Debug`; `Display` is for keys.
#[derive(Clone, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// Of [`Kind::Id`].
    Id([u8; 16]),
    /// Of [`Kind::Int`].
    Int(i64),
    /// Of [`Kind::Flag`].
    Flag(bool),
    /// Of [`Kind::Text`].
    Text(String),
    /// Of [`Kind::Bytes`].
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
