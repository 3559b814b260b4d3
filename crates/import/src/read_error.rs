//! Errors that end the reading of a file.

use std::io;

/// Error that ends the reading of a file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read, or is malformed as a whole.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The rows of the tables beside the accounts do not fit into memory.
    #[error(
        "the tables beside the accounts need more than 48 MiB: import from the database itself (--url-file, or the SQLite \
         file)"
    )]
    Sides,
    /// A column is given that the file does not have.
    #[error(
        "--column {ours}={theirs}: there is no column {theirs:?} in the header, or in the first record of JSON, which has \
         {there}"
    )]
    NoColumn {
        /// Field of ours.
        ours: String,
        /// Column that is missing.
        theirs: String,
        /// Columns that are there.
        there: String,
    },
    /// Columns are given for a format that has its own.
    #[error("the format {0} has columns of its own: --column and --keep-rest are for csv, django and rauthy")]
    OwnColumns(&'static str),
    /// The export has several realms, and none is named.
    #[error("the export has several realms: {0}. Name the one to import by --realm NAME")]
    Realms(String),
    /// The export has no realm of the given name.
    #[error("--realm {realm}: the export has no such realm, but these: {there}")]
    NoRealm {
        /// Given name.
        realm: String,
        /// Names that are there.
        there: String,
    },
    /// A realm is given for a format that has none.
    #[error("the format {0} has no realms: --realm is for keycloak")]
    NoRealms(&'static str),
    /// The folder has no file of the format.
    #[error("the folder has no file of this format")]
    Empty,
    /// The file is not empty, and has no place for accounts.
    #[error("no accounts found: expected {0}")]
    NoAccounts(&'static str),
    /// The file is an export that ends early.
    #[error("the export is torn: its last line is missing. Export again, or copy the file again")]
    Torn,
    /// The file is an export that is not as it was written.
    #[error(
        "the export was altered: the number of accounts or the SHA-256 in its last line is not that of the lines before it. \
         Copy the file again"
    )]
    Altered,
    /// The file is an export of a later version.
    #[error(
        "the export has another format than this version reads: import it with the version that wrote it, or a later one"
    )]
    Newer,
}
