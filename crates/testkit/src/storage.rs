//! The engines that a test can run on, and the place where one of them keeps its data for the length of a test.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use latchkey_store::Store;
use latchkey_store_postgres::{Postgres, PostgresOptions};
use latchkey_store_sqlite::{Sqlite, SqliteOptions};
use latchkey_store_suite::cluster::counting_proxy::{self, RoundTrips};
use latchkey_store_suite::cluster::{TestCluster, TestDatabase};
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
    /// The same, far away: the ways there are counted.
    FarDatabase(TestDatabase, RoundTrips, TempDir),
}

impl Storage {
    /// A place without any data, in a database that is far away.
    pub(crate) fn new_far_data() -> Data {
        let cluster = TestCluster::shared();
        let folder = temporary_folder();
        let trips = counting_proxy::start(folder.path(), cluster.folder());
        Data::FarDatabase(cluster.database(), trips, folder)
    }

    /// A place without any data.
    pub(crate) fn new_data(self) -> Data {
        match self {
            Self::Sqlite => Data::File,
            Self::Postgres => Data::Database(TestCluster::shared().database()),
        }
    }
}

impl Data {
    /// The round trips to it, where they are counted.
    pub(crate) const fn round_trips(&self) -> Option<&RoundTrips> {
        match self {
            Self::FarDatabase(_, trips, _) => Some(trips),
            Self::File | Self::Database(_) => None,
        }
    }

    /// The database, where there is one.
    pub(crate) const fn database(&self) -> Option<&TestDatabase> {
        match self {
            Self::File => None,
            Self::Database(database) | Self::FarDatabase(database, ..) => Some(database),
        }
    }

    /// Opens the engine over what is there.
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
                // One connection, so that making others does not count.
                postgres(&PostgresOptions { pool_size: 1, ..options(&url) })
            }
        }
    }
}

fn postgres(options: &PostgresOptions) -> Arc<dyn Store> {
    Arc::new(Postgres::open(options).expect("a store"))
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
