//! The conformance suite on PostgreSQL.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;

use latchkey_store::Store;
use latchkey_store_postgres::{Postgres, PostgresOptions};
use latchkey_store_suite::cluster::{TestCluster, TestDatabase};

latchkey_store_suite::conformance_tests!(empty_store);

/// Store on a new database, and the database, which must outlive it.
async fn empty_store() -> (Arc<dyn Store>, TestDatabase) {
    let database = TestCluster::shared().database();
    let store = Postgres::connect(PostgresOptions::new(database.url())).await.expect("a new store");
    (Arc::new(store), database)
}
