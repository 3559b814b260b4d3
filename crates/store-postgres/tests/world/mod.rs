//! A store on a database of its own, with a second connection to inspect its rows.
#![allow(dead_code, reason = "each test program uses a part")]

use std::future::Future;

use latchkey_store_postgres::{Postgres, PostgresOptions, PostgresStore};
use latchkey_store_suite::cluster::{TestCluster, TestDatabase};
use tokio_postgres::types::FromSqlOwned;
use tokio_postgres::{Client, NoTls};

/// Store, and a connection outside its pool.
pub(crate) struct Fixture {
    pub(crate) store: PostgresStore,
    pub(crate) outside: Client,
    pub(crate) database: TestDatabase,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Self::with(|options| options).await
    }

    /// Store with other options.
    pub(crate) async fn with(change: impl FnOnce(PostgresOptions) -> PostgresOptions) -> Self {
        let database = TestCluster::shared().database();
        let store = Postgres::connect(change(PostgresOptions::new(database.url()))).await.unwrap();
        let outside = connect(database.url()).await;
        Self { store, outside, database }
    }

    pub(crate) async fn run(&self, sql: &str) {
        self.outside.batch_execute(sql).await.unwrap();
    }

    pub(crate) async fn one<T: FromSqlOwned>(&self, sql: &str) -> T {
        self.outside.query_one(sql, &[]).await.unwrap().get(0)
    }

    pub(crate) async fn number(&self, sql: &str) -> i64 {
        self.one(sql).await
    }
}

/// Connection outside any pool.
pub(crate) fn connect(url: &str) -> impl Future<Output = Client> + use<> {
    let url = url.to_owned();
    async move {
        let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }
}
