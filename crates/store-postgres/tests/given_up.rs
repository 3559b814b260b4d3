//! Statements that nobody waits for any more: the server ends them by itself, and its processes do not pile up past the
//! size of the pool.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod world;

use std::time::Duration;

use latchkey_store::{Accounts, NewAccount, StoreError};
use latchkey_store_postgres::{Postgres, PostgresOptions, PostgresStore};
use latchkey_store_suite::cluster::TestCluster;
use latchkey_store_suite::conformance::numbered::{account, user_id};
use tokio::time::timeout;
use tokio_postgres::Client;

use world::{Looked, connect};

/// The server's processes that wait for a lock.
const COUNT_WAITING: &str = "
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
const LOCK: &str = "BEGIN; LOCK TABLE users IN ACCESS EXCLUSIVE MODE";
/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(10);

fn hasty(options: PostgresOptions) -> PostgresOptions {
    PostgresOptions { statement_timeout: Duration::from_millis(200), pool_size: 1, ..options }
}

/// Makes the account, with more patience.
async fn create(url: &str) {
    let store = Postgres::connect(PostgresOptions::new(url)).await.unwrap();
    store.create_account(account(1)).await.unwrap();
}

/// Waits until nobody waits for a lock.
async fn calm(outside: &Client) {
    let calm = async {
        while outside.query_one(COUNT_WAITING, &[]).await.unwrap().get::<_, i64>(0) > 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(LONG, calm).await.expect("statements that were given up end");
}

async fn most_waiting(store: &PostgresStore, outside: &Client) -> i64 {
    let mut most = 0;
    for _ in 0..4 {
        let outcome = store.find_user(user_id(1)).await;
        assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
        most = most.max(outside.query_one(COUNT_WAITING, &[]).await.unwrap().get(0));
    }
    most
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_do_not_pile_up_at_a_locked_table() {
    let looked = Looked::with(hasty).await;
    create(looked.database.url()).await;
    looked.run(LOCK).await;
    assert!(most_waiting(&looked.store, &looked.outside).await <= 1);
    calm(&looked.outside).await;
    looked.run("COMMIT").await;
    assert!(looked.store.find_user(user_id(1)).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_do_not_pile_up_behind_a_pooler() {
    let cluster = TestCluster::shared();
    let (pooler, database) = (cluster.pooler(4), cluster.database());
    let store = Postgres::connect(hasty(PostgresOptions::new(pooler.url(&database)))).await.unwrap();
    let outside = connect(database.url()).await;
    create(database.url()).await;
    outside.batch_execute(LOCK).await.unwrap();
    assert!(most_waiting(&store, &outside).await <= 1);
    calm(&outside).await;
    outside.batch_execute("COMMIT").await.unwrap();
    assert!(store.find_user(user_id(1)).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_that_go_away_leave_no_statement_behind() {
    let looked = Looked::with(hasty).await;
    create(looked.database.url()).await;
    looked.run(LOCK).await;
    for _ in 0..6 {
        let _ = timeout(Duration::from_millis(20), looked.store.find_user(user_id(1))).await;
        assert!(looked.number(COUNT_WAITING).await <= 1);
    }
    calm(&looked.outside).await;
    looked.run("COMMIT").await;
    assert!(looked.store.find_user(user_id(1)).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_says_of_a_row_stays_out_of_errors() {
    let looked = Looked::new().await;
    looked.run("ALTER TABLE users ADD CONSTRAINT nobody CHECK (email = '')").await;
    let refused = looked.store.create_account(NewAccount { session: None, ..account(1) }).await.unwrap_err();
    let mut text = refused.to_string();
    let mut next = std::error::Error::source(&refused);
    while let Some(source) = next {
        text += &source.to_string();
        next = source.source();
    }
    assert!(text.contains("constraint nobody") && !text.contains('@'), "{text}");
}
