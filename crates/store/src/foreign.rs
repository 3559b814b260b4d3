//! What the engines' readers of other applications' databases have in common. An import reads such databases.

/// A table beside that of the accounts, whose rows become a list in the account's object.
#[derive(Debug, Clone)]
pub struct SideTable {
    /// Key of the list.
    pub field: &'static str,
    /// Name of the table; for PostgreSQL as SQL.
    pub table: &'static str,
    /// Column with the id of the account.
    pub owner: &'static str,
}

/// Text of a row, or the reason why the reading ended.
pub type ForeignRow = Result<String, Box<dyn std::error::Error + Send + Sync>>;

/// Error: the database does not have the table of the accounts.
#[derive(Debug, thiserror::Error)]
#[error("the database has no table {0}: name the table of the accounts by --table")]
pub struct NoTable(pub String);
