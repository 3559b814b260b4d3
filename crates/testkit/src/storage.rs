//! Storage engines of a test, and their data for the length of a test.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use latchkey_store::Store;
use latchkey_store_postgres::{Postgres, PostgresOptions};
use latchkey_store_sqlite::{Sqlite, SqliteOptions};
use latchkey_store_suite::cluster::counting_proxy::{self, RoundTrips};
use latchkey_store_suite::cluster::{TestCluster, TestDatabase};
use tempfile::TempDir;

/// File system in memory, if available: tests do not wait for fsync. Durability after a power loss is not tested
/// here.
const MEMORY: &str = "/dev/shm";

/// Generous timeout.
const LONG: Duration = Duration::from_secs(30);

/// A storage engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// SQLite in a temporary folder.
    Sqlite,
    /// PostgreSQL, in a database of its own in this process's cluster.
    Postgres,
}

/// Data of one test.
pub(crate) enum Data {
    /// File in the test's folder.
    File,
    /// Database, dropped with this.
    Database(TestDatabase),
    /// Database behind a proxy that counts round trips.
    FarDatabase(TestDatabase, RoundTrips, TempDir),
}

impl Storage {
    /// New, empty database behind a counting proxy.
    pub(crate) fn new_far_data() -> Data {
        let cluster = TestCluster::shared();
        let folder = temporary_folder();
        let trips = counting_proxy::start(folder.path(), cluster.folder());
        Data::FarDatabase(cluster.database(), trips, folder)
    }

    /// New, empty data.
    pub(crate) fn new_data(self) -> Data {
        match self {
            Self::Sqlite => Data::File,
            Self::Postgres => Data::Database(TestCluster::shared().database()),
        }
    }
}

impl Data {
    /// Round trip counter, if there is one.
    pub(crate) const fn round_trips(&self) -> Option<&RoundTrips> {
        match self {
            Self::FarDatabase(_, trips, _) => Some(trips),
            Self::File | Self::Database(_) => None,
        }
    }

    /// Database, if there is one.
    pub(crate) const fn database(&self) -> Option<&TestDatabase> {
        match self {
            Self::File => None,
            Self::Database(database) | Self::FarDatabase(database, ..) => Some(database),
        }
    }

    /// Opens the engine on the data.
    pub(crate) fn open(&self, folder: &Path) -> Arc<dyn Store> {
        match self {
            Self::File => {
                let options = SqliteOptions { readers: 2, ..SqliteOptions::default() };
                Arc::new(Sqlite::open_with(&folder.join("latchkey.db"), options).expect("a database"))
            }
            Self::Database(database) => postgres(&options(database.url())),
            Self::FarDatabase(database, _, proxy) => {
                let server = TestCluster::shared().folder().display().to_string();
                let url = database.url().replace(&server, &proxy.path().display().to_string());
                // One connection, so that connecting others does not count.
                postgres(&PostgresOptions { pool_size: 1, ..options(&url) })
            }
        }
    }
}

fn postgres(options: &PostgresOptions) -> Arc<dyn Store> {
    Arc::new(Postgres::open(options).expect("a store"))
}

/// Long timeouts for slow machines: timeouts are tested elsewhere.
fn options(url: &str) -> PostgresOptions {
    PostgresOptions {
        pool_size: 8,
        statement_timeout: LONG,
        acquire_timeout: LONG,
        connect_timeout: LONG,
        ..PostgresOptions::new(url)
    }
}

/// Temporary folder, removed with its last user.
pub(crate) fn temporary_folder() -> TempDir {
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix("latchkey-test-");
    builder.tempdir_in(MEMORY).or_else(|_| builder.tempdir()).expect("a temporary folder")
}
