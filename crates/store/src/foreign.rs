//! What the engines' readers of other applications' databases have in common. An import reads such databases.

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
}

impl SideTable {
    /// Returns the column with the id of the account, as the table writes its name.
    pub fn owner<'c>(&self, columns: &'c [String]) -> Result<&'c str, NoColumn> {
        let of = |owner: &&str| columns.iter().find(|column| column.eq_ignore_ascii_case(owner));
        let found = self.owners.iter().find_map(of).map(String::as_str);
        found.ok_or_else(|| NoColumn(self.table.to_owned(), self.owners.join(" or ")))
    }
}

/// Text of a row, or the reason why the reading ended.
pub type ForeignRow = Result<String, Box<dyn std::error::Error + Send + Sync>>;

/// Error: the database does not have the table of the accounts.
#[derive(Debug, thiserror::Error)]
#[error("the database has no table {0}: name the table of the accounts by --table")]
pub struct NoTable(pub String);

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
