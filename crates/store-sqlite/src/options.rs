//! Choices at the opening and the closing of a database.

use std::num::NonZeroU32;
use std::thread::available_parallelism;
use std::time::Duration;

/// Options for opening a database.
#[derive(Debug, Clone, Copy)]
pub struct SqliteOptions {
    /// Number of connections for point reads, at least 1. Ideally there are as many as calling threads.
    pub readers: usize,
    /// Maximum number of operations per commit, at least 1.
    pub batch: usize,
    /// Behaviour if there is no database file.
    pub missing: MissingFile,
    /// Maximum wait for the write lock of another process. After it, an operation fails with
    /// [`latchkey_store::StoreError::Unavailable`].
    pub busy_timeout: Duration,
    /// If true, a connection keeps its snapshot from one point read to the next while there are no writes (ADR 0017).
    pub reuse_snapshots: bool,
    /// If true, another program replicates the log: it is never checkpointed or truncated here.
    pub is_replicated: bool,
    /// If true, the writer has a larger page cache and checkpoints more rarely, for very many writes in a row.
    pub is_bulk: bool,
    /// Number that tells this database from others from now on, if it has none yet. Its copies have it too. It must be
    /// random: backups of two databases in one folder are told apart by it.
    pub mark: Option<NonZeroU32>,
}

/// Behaviour if there is no database file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingFile {
    Create,
    /// Fail with [`crate::NoDatabase`].
    Refuse,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        let threads = available_parallelism().map_or(2, usize::from);
        Self {
            readers: threads + 1,
            batch: 256,
            missing: MissingFile::Create,
            busy_timeout: Duration::from_secs(5),
            reuse_snapshots: true,
            is_replicated: false,
            is_bulk: false,
            mark: None,
        }
    }
}

/// What becomes of the log (WAL) when the last connection to the database is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogAtClose {
    /// It is written into the file and removed.
    Folded,
    /// It stays, because a replicator reads it.
    Kept,
}
