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
        "the tables beside the accounts have more than 48 MiB: import from the database itself (--url-file, or the SQLite \
         file)"
    )]
    Sides,
    /// The folder has no file of the format.
    #[error("the folder has no file of this format")]
    Empty,
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
