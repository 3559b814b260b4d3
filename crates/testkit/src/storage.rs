//! The engines that a test can run on, and the place where one of them keeps its data for the length of a test.

use std::path::Path;
use std::sync::Arc;

use latchkey_store::Store;
use latchkey_store_sqlite::{SqliteOptions, SqliteStore};
use tempfile::TempDir;

/// A file system in memory, where the machine has one: a hundred tests do not wait for a disk to sync. What survives
/// a loss of power is not their question.
const MEMORY: &str = "/dev/shm";

/// A storage engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// The embedded one, in a temporary folder.
    Sqlite,
}

impl Storage {
    /// Opens the engine over what the folder holds.
    pub(crate) fn open(self, folder: &Path) -> Arc<dyn Store> {
        match self {
            Self::Sqlite => {
                let options = SqliteOptions { readers: 2, ..SqliteOptions::default() };
                Arc::new(SqliteStore::open_with(&folder.join("latchkey.db"), options).expect("a database"))
            }
        }
    }
}

/// An empty folder that goes when the last user of it does.
pub(crate) fn temporary_folder() -> TempDir {
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix("latchkey-test-");
    builder.tempdir_in(MEMORY).or_else(|_| builder.tempdir()).expect("a temporary folder")
}
