//! Abandoned statements: the server ends them at the statement timeout, and at most one per pooled connection
//! runs.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod world;

use std::time::Duration;

use latchkey_store::{Accounts, StoreError};
use latchkey_store_postgres::{Postgres, PostgresOptions, PostgresStore};
use latchkey_store_suite::cluster::TestCluster;
use latchkey_store_suite::conformance::numbered::{account, user_id};
use tokio::time::timeout;
use tokio_postgres::Client;

use world::{Fixture, connect};

/// Query for the number of backends that wait for a lock.
const COUNT_WAITING: &str = "
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
const LOCK: &str = "BEGIN; LOCK TABLE users IN ACCESS EXCLUSIVE MODE";
/// Timeout of the test itself.
const LONG: Duration = Duration::from_secs(10);

fn impatient(options: PostgresOptions) -> PostgresOptions {
    PostgresOptions { statement_timeout: Duration::from_millis(200), pool_size: 1, ..options }
}

/// Creates the account with the default timeouts.
async fn create(url: &str) {
    let store = Postgres::connect(PostgresOptions::new(url)).await.unwrap();
    store.create_account(account(1)).await.unwrap();
}

/// Waits until no backend waits for a lock.
async fn wait_until_unlocked(outside: &Client) {
    let wait = async {
        while outside.query_one(COUNT_WAITING, &[]).await.unwrap().get::<_, i64>(0) > 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(LONG, wait).await.expect("abandoned statements end");
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
    let fixture = Fixture::with(impatient).await;
    create(fixture.database.url()).await;
    fixture.run(LOCK).await;
    assert!(most_waiting(&fixture.store, &fixture.outside).await <= 1);
    wait_until_unlocked(&fixture.outside).await;
    fixture.run("COMMIT").await;
    assert!(fixture.store.find_user(user_id(1)).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_do_not_pile_up_behind_a_pooler() {
    let cluster = TestCluster::shared();
    let (pooler, database) = (cluster.pooler(4), cluster.database());
    let store = Postgres::connect(impatient(PostgresOptions::new(pooler.url(&database)))).await.unwrap();
    let outside = connect(database.url()).await;
    create(database.url()).await;
    outside.batch_execute(LOCK).await.unwrap();
    assert!(most_waiting(&store, &outside).await <= 1);
    wait_until_unlocked(&outside).await;
    outside.batch_execute("COMMIT").await.unwrap();
    assert!(store.find_user(user_id(1)).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_calls_leave_no_statement_running() {
    let fixture = Fixture::with(impatient).await;
    create(fixture.database.url()).await;
    fixture.run(LOCK).await;
    for _ in 0..6 {
        let _ = timeout(Duration::from_millis(20), fixture.store.find_user(user_id(1))).await;
        assert!(fixture.number(COUNT_WAITING).await <= 1);
    }
    wait_until_unlocked(&fixture.outside).await;
    fixture.run("COMMIT").await;
    assert!(fixture.store.find_user(user_id(1)).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn error_detail_with_row_values_is_not_exposed() {
    let fixture = Fixture::new().await;
    fixture.run("ALTER TABLE users ADD CONSTRAINT nobody CHECK (email = '')").await;
    let refused = fixture.store.create_account(account(1)).await.unwrap_err();
    let mut text = refused.to_string();
    let mut next = std::error::Error::source(&refused);
    while let Some(source) = next {
        text += &source.to_string();
        next = source.source();
    }
    assert!(text.contains("constraint nobody") && !text.contains('@'), "{text}");
}
