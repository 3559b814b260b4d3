#![allow(clippy::unwrap_used, clippy::expect_used)]

use latchkey_store_suite::cluster::TestCluster;

use super::*;
use crate::options::PostgresOptions;
use crate::pool;

fn pool(url: String, prepared: Prepared) -> Pool {
    pool::build(&PostgresOptions { prepared, pool_size: 1, ..PostgresOptions::new(url) }).unwrap()
}

/// Returns whether statements of a new connection have names, and whether lone ones need no transaction.
async fn kind(url: String, prepared: Prepared) -> (bool, bool) {
    let link = pool(url, prepared).get().await.unwrap();
    (link.names_statements(), link.has_session_settings())
}

#[tokio::test]
async fn direct_connection_names_its_statements_and_knows_its_session() {
    let database = TestCluster::shared().database();

    assert_eq!(kind(database.url().to_owned(), Prepared::Auto).await, (true, true));
    assert_eq!(kind(database.url().to_owned(), Prepared::Named).await, (true, true));
    assert_eq!(kind(database.url().to_owned(), Prepared::Never).await, (false, false));
}

#[tokio::test]
async fn pooled_connection_names_nothing_unless_told_to() {
    let cluster = TestCluster::shared();
    let (pooler, database) = (cluster.pooler(1), cluster.database());

    assert_eq!(kind(pooler.url(&database), Prepared::Auto).await, (false, false));
    assert_eq!(kind(pooler.url(&database), Prepared::Named).await, (true, false));
}

#[tokio::test]
async fn connection_that_another_process_answers_is_discarded_when_it_is_checked_again() {
    let database = TestCluster::shared().database();
    let pool = pool(database.url().to_owned(), Prepared::Auto);
    let mut link = pool.get().await.unwrap();
    link.announced = Announced::for_test(-1);
    drop(link);

    for _ in 0..USES {
        let link = pool.get().await.unwrap();
        if link.announced != Announced::for_test(-1) {
            assert!(link.names_statements());
            return;
        }
    }
    panic!("the connection was never checked again");
}

#[tokio::test]
async fn unknown_name_of_a_statement_ends_the_use_of_names() {
    let database = TestCluster::shared().database();
    let pool = pool(database.url().to_owned(), Prepared::Auto);
    pool.get().await.unwrap().suspect();

    let link = pool.get().await.unwrap();

    assert!(!link.names_statements());
    assert!(!link.has_session_settings());
}
