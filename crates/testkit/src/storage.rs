//! The engines that a test can run on, and the place where one of them keeps its data for the length of a test.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use latchkey_store::Store;
use latchkey_store_postgres::test_cluster::{TestCluster, TestDatabase};
use latchkey_store_postgres::{PostgresOptions, PostgresStore};
use latchkey_store_sqlite::{SqliteOptions, SqliteStore};
use tempfile::TempDir;

/// A file system in memory, where the machine has one: a hundred tests do not wait for a disk to sync. What survives
/// a loss of power is not their question.
const MEMORY: &str = "/dev/shm";

/// Longer than anything takes.
const LONG: Duration = Duration::from_secs(30);

/// A storage engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// The embedded one, in a temporary folder.
    Sqlite,
    /// PostgreSQL, in a database of its own in a cluster that this process starts.
    Postgres,
}

/// Where an engine keeps the data of one test.
pub(crate) enum Data {
    /// In a file of the test's folder.
    File,
    /// In a database, which is dropped with this.
    Database(TestDatabase),
}

impl Storage {
    /// A place without any data.
    pub(crate) fn new_data(self) -> Data {
        match self {
            Self::Sqlite => Data::File,
            Self::Postgres => Data::Database(TestCluster::shared().database()),
        }
    }
}

impl Data {
    /// The database, where there is one.
    pub(crate) const fn database(&self) -> Option<&TestDatabase> {
        match self {
            Self::File => None,
            Self::Database(database) => Some(database),
        }
    }

    /// Opens the engine over what is there.
    pub(crate) fn open(&self, folder: &Path) -> Arc<dyn Store> {
        match self {
            Self::File => {
                let options = SqliteOptions { readers: 2, ..SqliteOptions::default() };
                Arc::new(SqliteStore::open_with(&folder.join("latchkey.db"), options).expect("a database"))
            }
            Self::Database(database) => {
                Arc::new(PostgresStore::open(&options(database.url())).expect("a store"))
            }
        }
    }
}

/// As patient as a machine with many tests is slow: timeouts are the question of other tests.
fn options(url: &str) -> PostgresOptions {
    PostgresOptions {
        pool_size: 8,
        statement_timeout: LONG,
        acquire_timeout: LONG,
        connect_timeout: LONG,
        ..PostgresOptions::new(url)
    }
}

/// An empty folder that goes when the last user of it does.
pub(crate) fn temporary_folder() -> TempDir {
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix("latchkey-test-");
    builder.tempdir_in(MEMORY).or_else(|_| builder.tempdir()).expect("a temporary folder")
}
