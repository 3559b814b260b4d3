//! Tests of stored rows that the contract does not expose, and of the integrity of the search index.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::PathBuf;

use async_trait::async_trait;
use latchkey_domain::page::Page;
use latchkey_domain::search::SearchQuery;
use latchkey_domain::time::Timestamp;
use latchkey_store::{Accounts, FeedPosition, FeedRead, Profiles, SearchFeed, Store};
use latchkey_store_sqlite::{Sqlite, SqliteStore};
use latchkey_store_suite::conformance::hidden::{self, InspectRows};
use latchkey_store_suite::conformance::numbered::{account, at};
use rusqlite::Connection;
use tempfile::TempDir;

latchkey_store_suite::hidden_tests!(fixture);

/// A store, and a connection to its file.
struct Fixture {
    store: SqliteStore,
    path: PathBuf,
    _folder: TempDir,
}

async fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    Fixture { store: Sqlite::open(&path).unwrap(), path, _folder: folder }
}

#[async_trait]
impl InspectRows for Fixture {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    async fn text(&self, sql: &str) -> String {
        let sql = format!("SELECT CAST(({sql}) AS TEXT)");
        Connection::open(&self.path).unwrap().query_row(&sql, [], |row| row.get(0)).unwrap()
    }
}

#[tokio::test]
async fn feed_is_purged_after_one_or_two_days_except_for_the_last_change() {
    const DAY: i64 = 24 * 60 * 60;
    let fixture = fixture().await;
    for number in [1, 2] {
        fixture.store.create_account(account(number)).await.unwrap();
    }
    let count = async || fixture.text("SELECT count(*) FROM search_feed").await;
    let start = FeedPosition("0".to_owned());
    fixture.store.purge(at(0)).await.unwrap();
    fixture.store.purge(at(DAY - 1)).await.unwrap();
    assert_eq!(count().await, "2", "within a day");
    assert!(matches!(fixture.store.list_search_changes(&start).await.unwrap(), FeedRead::Changes { .. }));

    fixture.store.purge(at(DAY)).await.unwrap();
    assert_eq!(count().await, "1", "after it");
    assert_eq!(fixture.store.list_search_changes(&start).await.unwrap(), FeedRead::Lost);
}

#[tokio::test]
async fn rolled_back_profile_is_not_in_the_index() {
    let fixture = fixture().await;
    hidden::a_sign_up_at_a_taken_address_leaves_nothing_but_a_mail_and_an_event(&fixture).await;
    let conn = Connection::open(&fixture.path).unwrap();
    conn.execute_batch("INSERT INTO profile_search (profile_search) VALUES ('integrity-check')").unwrap();
}

#[tokio::test]
async fn a_search_and_a_purge_bring_a_late_index_up_to_date() {
    let fixture = fixture().await;
    for number in 0..600 {
        fixture.store.create_account(account(number)).await.unwrap();
    }
    let behind = async || fixture.text("SELECT count(*) FROM profile_search_pending").await;
    let query = SearchQuery::parse("nobody").unwrap();
    let mut seen = vec![behind().await];
    for _ in 0..3 {
        fixture.store.search_profiles(&query, Page::default()).await.unwrap();
        fixture.store.check().await.unwrap(); // what a search asks for is written before it
        seen.push(behind().await);
    }
    assert_eq!(seen, ["600", "344", "88", "88"]);
    fixture.store.purge(at(0)).await.unwrap();
    assert_eq!(behind().await, "0");
    let conn = Connection::open(&fixture.path).unwrap();
    conn.execute_batch("INSERT INTO profile_search (profile_search) VALUES ('integrity-check')").unwrap();
}

#[tokio::test]
async fn purge_deletes_a_code_and_the_attempts_of_one_lane_only() {
    let fixture = fixture().await;
    let conn = Connection::open(&fixture.path).unwrap();
    conn.execute_batch(
        "INSERT INTO codes (email_key, purpose, lane, mac, long, attempts, other_attempts, created_at, expires_at)
        VALUES ('ada', 'verify', 0, zeroblob(32), 0, 0, 0, 0, 1), ('ada', 'verify', 1, zeroblob(32), 0, 0, 0, 0, 9000);
        INSERT INTO code_budgets (email_key, purpose, lane, attempts, since, day_attempts, day_since, ends_at)
        VALUES ('ada', 'verify', 0, 1, 0, 0, 0, 1), ('ada', 'verify', 1, 1, 0, 0, 0, 9000)",
    )
    .unwrap();

    fixture.store.purge(Timestamp::from_millis(5_000)).await.unwrap();

    assert_eq!(fixture.text("SELECT group_concat(lane) FROM codes").await, "1");
    assert_eq!(fixture.text("SELECT group_concat(lane) FROM code_budgets").await, "1");
}
