//! Storage engines under test, and the stored data of one test.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use latchkey_store::Store;
use latchkey_store_postgres::{Postgres, PostgresOptions, Prepared};
use latchkey_store_sqlite::{Sqlite, SqliteOptions};
use latchkey_store_suite::cluster::counting_proxy::{self, RoundTrips};
use latchkey_store_suite::cluster::{TestCluster, TestDatabase};
use tempfile::TempDir;

/// Memory file system, used if it exists so that tests need not wait for fsync. These tests do not cover durability
/// after a power loss.
const MEMORY: &str = "/dev/shm";

/// Timeout that is long enough for slow machines.
const LONG: Duration = Duration::from_secs(30);

/// A storage engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// SQLite, with a file in a temporary folder.
    Sqlite,
    /// PostgreSQL, with a database of its own in the cluster of this process.
    Postgres,
}

/// Stored data of one test.
pub(crate) enum Data {
    /// SQLite file in the test's folder.
    File,
    /// PostgreSQL database, dropped together with this value.
    Database(TestDatabase),
    /// PostgreSQL database behind a proxy that counts round trips.
    FarDatabase(TestDatabase, RoundTrips, TempDir),
}

impl Storage {
    /// Creates an empty PostgreSQL database behind a proxy that counts round trips.
    pub(crate) fn new_far_data() -> Data {
        let cluster = TestCluster::shared();
        let folder = temporary_folder();
        let trips = counting_proxy::start(folder.path(), cluster.folder());
        Data::FarDatabase(cluster.database(), trips, folder)
    }

    /// Creates empty data for this engine.
    pub(crate) fn new_data(self) -> Data {
        match self {
            Self::Sqlite => Data::File,
            Self::Postgres => Data::Database(TestCluster::shared().database()),
        }
    }
}

impl Data {
    /// Returns the counter of database round trips; `None` without the counting proxy.
    pub(crate) const fn round_trips(&self) -> Option<&RoundTrips> {
        match self {
            Self::FarDatabase(_, trips, _) => Some(trips),
            Self::File | Self::Database(_) => None,
        }
    }

    /// Returns the PostgreSQL database; `None` with SQLite.
    pub(crate) const fn database(&self) -> Option<&TestDatabase> {
        match self {
            Self::File => None,
            Self::Database(database) | Self::FarDatabase(database, ..) => Some(database),
        }
    }

    /// Opens the storage engine on this data.
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
                // A pool of one connection, so that opening connections is not counted as round trips.
                // Names are prepared in a round trip of their own, once per connection.
                let prepared = Prepared::Never;
                postgres(&PostgresOptions { pool_size: 1, prepared, ..options(&url) })
            }
        }
    }
}

fn postgres(options: &PostgresOptions) -> Arc<dyn Store> {
    Arc::new(Postgres::open(options).expect("a store"))
}

/// Returns the options of the engine, with long timeouts for slow machines.
fn options(url: &str) -> PostgresOptions {
    PostgresOptions {
        pool_size: 8,
        statement_timeout: LONG,
        acquire_timeout: LONG,
        connect_timeout: LONG,
        ..PostgresOptions::new(url)
    }
}

/// Creates a temporary folder, which is removed with its last reference.
pub(crate) fn temporary_folder() -> TempDir {
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix("latchkey-test-");
    builder.tempdir_in(MEMORY).or_else(|_| builder.tempdir()).expect("a temporary folder")
}
