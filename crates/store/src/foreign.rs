//! What the engines' readers of other applications' databases have in common. An import reads such databases.

use latchkey_domain::imports::LARGEST_RECORD;

use crate::error::StoreError;

/// A table beside that of the accounts, whose rows become a list in the account's object.
#[derive(Debug, Clone)]
pub struct SideTable {
    /// Key of the list. A second table of the same key is read if the first one does not exist.
    pub field: &'static str,
    /// Name of the table; for PostgreSQL as SQL.
    pub table: &'static str,
    /// Columns that may have the id of the account. The first one that exists has it.
    pub owners: &'static [&'static str],
    /// What tells whose accounts a row is about; `None` if the table is beside that of the accounts alone.
    pub scope: Option<Scope>,
    /// True if the accounts would lack something without the table. Another one without any of `owners` is passed over.
    pub is_needed: bool,
}

/// How rows of a table beside those of several tables of accounts name the one that they belong to. An id is unique in one
/// of them only.
#[derive(Debug, Clone, Copy)]
pub struct Scope {
    /// Columns that may have the id of the table of accounts. The first one that exists has it.
    pub columns: &'static [&'static str],
    /// Table with the ids (`id`) of the tables of accounts by their names (`name`).
    pub tables: &'static str,
    /// Key under which the account's object gets the id of its table.
    pub key: &'static str,
}

impl SideTable {
    /// False if the table does not exist, or is passed over.
    #[must_use]
    pub fn is_read(&self, columns: &[String]) -> bool {
        !columns.is_empty() && (self.is_needed || self.owner(columns).is_ok())
    }

    /// Returns the column with the id of the account, as the table writes its name.
    pub fn owner<'c>(&self, columns: &'c [String]) -> Result<&'c str, NoColumn> {
        self.first_of(self.owners, columns)
    }

    /// Returns the first of these columns that exists, as the table writes its name.
    pub fn first_of<'c>(&self, wanted: &[&str], columns: &'c [String]) -> Result<&'c str, NoColumn> {
        let of = |name: &&str| columns.iter().find(|column| column.eq_ignore_ascii_case(name));
        let found = wanted.iter().find_map(of).map(String::as_str);
        found.ok_or_else(|| NoColumn(self.table.to_owned(), wanted.join(" or ")))
    }
}

/// Text of a row, or the reason why the reading ended.
pub type ForeignRow = Result<String, Box<dyn std::error::Error + Send + Sync>>;

/// Number of chunks that are read ahead. With the one that is being filled, and rows of at most [`LARGEST_RECORD`], they
/// have some 8 MiB.
pub const CHUNKS_AHEAD: usize = 5;
/// Size at which a chunk is full.
const FULL: usize = 256 * 1024;
/// Number of rows at which a chunk is full.
const MOST_ROWS: usize = 500;
/// Maximum number of rows of a side table that are read of an account: one more than an import takes, so that it can tell.
pub const MOST_SIDE_ROWS: usize = 101;

/// Rows on their way to the import. A queue of single rows would have a bound in rows, not in bytes.
#[derive(Debug, Default)]
pub struct Chunk {
    rows: Vec<ForeignRow>,
    bytes: usize,
}

impl Chunk {
    /// Adds a row, and returns the chunk if it is full. Of a row that is too large for a record, which an import sees by its
    /// length alone, the rest is cut off.
    pub fn add(&mut self, mut row: String) -> Option<Self> {
        if row.len() > LARGEST_RECORD {
            row.truncate(row.ceil_char_boundary(LARGEST_RECORD + 1));
            row.shrink_to_fit();
        }
        self.bytes += row.len();
        self.rows.push(Ok(row));
        (self.bytes >= FULL || self.rows.len() >= MOST_ROWS).then(|| std::mem::take(self))
    }

    /// Adds the reason why the reading ended.
    #[must_use]
    pub fn ended_by(mut self, error: Box<dyn std::error::Error + Send + Sync>) -> Self {
        self.rows.push(Err(error));
        self
    }
}

impl IntoIterator for Chunk {
    type Item = ForeignRow;
    type IntoIter = std::vec::IntoIter<ForeignRow>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.into_iter()
    }
}

/// Error: the database does not have the table of the accounts.
#[derive(Debug, thiserror::Error)]
#[error("the database has no table {0}: name the table of the accounts by --table")]
pub struct NoTable(pub String);

/// Error: the table of the accounts has no id, which rows beside it name.
#[derive(Debug, thiserror::Error)]
#[error(
    "the table {1} has no id of {0}, so the rows of {2} cannot be told from those of other tables: import from a file"
)]
pub struct NoTableId(pub String, pub &'static str, pub &'static str);

/// Error: a table does not have a column that is needed.
#[derive(Debug, thiserror::Error)]
#[error("the table {0} has no column {1}, so it is not one that the format knows: import from a file")]
pub struct NoColumn(pub String, pub String);

/// Error: the database could not be opened, or ended the reading. The text says why.
#[derive(Debug, thiserror::Error)]
#[error("the database cannot be read: {0}")]
pub struct Unreadable(pub String);

impl From<StoreError> for Unreadable {
    fn from(error: StoreError) -> Self {
        // What a fault means for our own storage says nothing here; its cause does.
        let first = std::error::Error::source(&error);
        let causes = std::iter::successors(first, |cause| cause.source()).map(ToString::to_string);
        let text = causes.collect::<Vec<_>>().join(": ");
        Self(if text.is_empty() { error.to_string() } else { text })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn chunk_is_full_by_bytes_and_by_rows() {
        let rows_of = |size: usize| {
            let mut chunk = Chunk::default();
            (1..)
                .find_map(|count| chunk.add("x".repeat(size)).map(|full| (count, full.into_iter().len())))
                .unwrap()
        };
        assert_eq!([rows_of(LARGEST_RECORD), rows_of(100_000), rows_of(2)], [(1, 1), (3, 3), (500, 500)]);
    }

    #[test]
    fn row_that_no_record_may_be_is_cut_and_stays_too_large() {
        let mut chunk = Chunk::default();
        let row = chunk.add("é".repeat(LARGEST_RECORD)).unwrap().into_iter().next().unwrap().unwrap();
        assert!(row.len() > LARGEST_RECORD && row.capacity() < LARGEST_RECORD + 64, "{}", row.len());
    }
}
