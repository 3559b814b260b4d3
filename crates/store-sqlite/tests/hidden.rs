//! What no caller of the contract can see but everybody who looks at the rows, and that the search index stays whole.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::PathBuf;

use async_trait::async_trait;
use latchkey_domain::page::Page;
use latchkey_domain::search::SearchQuery;
use latchkey_domain::time::Timestamp;
use latchkey_store::{Accounts, FeedPosition, FeedRead, Profiles, SearchFeed, Store};
use latchkey_store_sqlite::{Sqlite, SqliteStore};
use latchkey_store_suite::conformance::hidden::{self, Look};
use latchkey_store_suite::conformance::numbered::{account, at};
use rusqlite::Connection;
use tempfile::TempDir;

latchkey_store_suite::hidden_tests!(looked);

/// A store, and the file to look into.
struct Looked {
    store: SqliteStore,
    path: PathBuf,
    _folder: TempDir,
}

async fn looked() -> Looked {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    Looked { store: Sqlite::open(&path).unwrap(), path, _folder: folder }
}

#[async_trait]
impl Look for Looked {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    async fn text(&self, sql: &str) -> String {
        let sql = format!("SELECT CAST(({sql}) AS TEXT)");
        Connection::open(&self.path).unwrap().query_row(&sql, [], |row| row.get(0)).unwrap()
    }
}

#[tokio::test]
async fn changes_of_the_search_go_after_a_day_or_two_but_for_the_last() {
    const DAY: i64 = 24 * 60 * 60;
    let looked = looked().await;
    for number in [1, 2] {
        looked.store.create_account(account(number)).await.unwrap();
    }
    let count = async || looked.text("SELECT count(*) FROM search_feed").await;
    let start = FeedPosition("0".to_owned());
    looked.store.purge(at(0)).await.unwrap();
    looked.store.purge(at(DAY - 1)).await.unwrap();
    assert_eq!(count().await, "2", "within a day");
    assert!(matches!(looked.store.list_search_changes(&start).await.unwrap(), FeedRead::Changes { .. }));

    looked.store.purge(at(DAY)).await.unwrap();
    assert_eq!(count().await, "1", "after it");
    assert_eq!(looked.store.list_search_changes(&start).await.unwrap(), FeedRead::Lost);
}

#[tokio::test]
async fn a_profile_that_was_taken_back_is_not_left_in_the_index() {
    let looked = looked().await;
    hidden::a_sign_up_at_a_taken_address_leaves_nothing_but_a_mail_and_an_event(&looked).await;
    let conn = Connection::open(&looked.path).unwrap();
    conn.execute_batch("INSERT INTO profile_search (profile_search) VALUES ('integrity-check')").unwrap();
}

#[tokio::test]
async fn a_search_and_a_purge_bring_a_late_index_up_to_date() {
    let looked = looked().await;
    for number in 0..600 {
        looked.store.create_account(account(number)).await.unwrap();
    }
    let behind = async || looked.text("SELECT count(*) FROM profile_search_pending").await;
    let query = SearchQuery::parse("nobody").unwrap();
    let mut seen = vec![behind().await];
    for _ in 0..3 {
        looked.store.search_profiles(&query, Page::default()).await.unwrap();
        looked.store.check().await.unwrap(); // what a search asks for is written before it
        seen.push(behind().await);
    }
    assert_eq!(seen, ["600", "344", "88", "88"]);
    looked.store.purge(at(0)).await.unwrap();
    assert_eq!(behind().await, "0");
    let conn = Connection::open(&looked.path).unwrap();
    conn.execute_batch("INSERT INTO profile_search (profile_search) VALUES ('integrity-check')").unwrap();
}

#[tokio::test]
async fn a_purge_takes_a_code_and_an_account_of_attempts_of_one_lane_alone() {
    let looked = looked().await;
    let conn = Connection::open(&looked.path).unwrap();
    conn.execute_batch(
        "INSERT INTO codes (email_key, purpose, lane, mac, long, attempts, other_attempts, created_at, expires_at)
        VALUES ('ada', 'verify', 0, zeroblob(32), 0, 0, 0, 0, 1), ('ada', 'verify', 1, zeroblob(32), 0, 0, 0, 0, 9000);
        INSERT INTO code_budgets (email_key, purpose, lane, attempts, since, day_attempts, day_since, ends_at)
        VALUES ('ada', 'verify', 0, 1, 0, 0, 0, 1), ('ada', 'verify', 1, 1, 0, 0, 0, 9000)",
    )
    .unwrap();

    looked.store.purge(Timestamp::from_millis(5_000)).await.unwrap();

    assert_eq!(looked.text("SELECT group_concat(lane) FROM codes").await, "1");
    assert_eq!(looked.text("SELECT group_concat(lane) FROM code_budgets").await, "1");
}
