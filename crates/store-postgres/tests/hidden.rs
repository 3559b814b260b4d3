//! Tests of stored rows and query plans, which the contract does not expose.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod world;

use std::time::Duration;

use async_trait::async_trait;
use latchkey_domain::user_list::{UserFilter, UserSearch, UserSort};
use latchkey_store::{
    Accounts, AdminUsers, FeedPosition, FeedRead, ListUsers, SearchFeed, Store, UserPosition,
};
use latchkey_store_operations::tables::all_statements;
use latchkey_store_suite::conformance::hidden::InspectRows;
use latchkey_store_suite::conformance::numbered::{account, at, user_id};

use world::{Fixture, connect};

latchkey_store_suite::hidden_tests!(fixture);

async fn fixture() -> Fixture {
    Fixture::new().await
}

#[async_trait]
impl InspectRows for Fixture {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    async fn text(&self, sql: &str) -> String {
        self.one(&format!("SELECT ({sql})::text")).await
    }
}

#[tokio::test]
async fn late_commit_is_delivered_late_but_not_skipped() {
    let fixture = fixture().await;
    for number in [1, 2] {
        fixture.store.create_account(account(number)).await.unwrap();
    }
    let begun = fixture.store.search_position().await.unwrap();
    let told =
        async |position: &FeedPosition| match fixture.store.list_search_changes(position).await.unwrap() {
            FeedRead::Changes { changes, position, .. } => (changes.len(), position),
            FeedRead::Lost => panic!("the position is new"),
        };

    let of = |number: u64| format!("WHERE user_id = '{}'", user_id(number));
    fixture.run(&format!("BEGIN; UPDATE profiles SET folded_name = 'early' {}", of(1))).await;
    let other = connect(fixture.database.url()).await;
    other.batch_execute(&format!("UPDATE profiles SET folded_name = 'late' {}", of(2))).await.unwrap();
    let (count, position) = told(&begun).await;
    assert_eq!(count, 1, "the transaction that began later has ended first");

    fixture.run("COMMIT").await;
    let (count, position) = told(&position).await;
    assert_eq!(count, 1, "the one that began earlier");
    assert_eq!(told(&position).await.0, 0);
}

/// Reads the search feed to its end, and returns the numbers of changes and of reads.
async fn follow(fixture: &Fixture, position: &mut FeedPosition) -> (usize, usize) {
    let (mut told, mut readings) = (0, 0);
    loop {
        match fixture.store.list_search_changes(position).await.unwrap() {
            FeedRead::Changes { changes, position: reached, has_more } => {
                *position = reached;
                told += changes.len();
                readings += 1;
                if !has_more {
                    return (told, readings);
                }
            }
            FeedRead::Lost => panic!("the position is new"),
        }
    }
}

fn changes(count: u32) -> String {
    format!(
        "INSERT INTO search_feed (profile_id, created_at)
        SELECT gen_random_uuid(), 0 FROM generate_series(1, {count})"
    )
}

#[tokio::test]
async fn changes_are_paged_and_commits_between_pages_follow() {
    let fixture = fixture().await;
    let mut position = fixture.store.search_position().await.unwrap();
    let other = connect(fixture.database.url()).await;
    other.batch_execute(&format!("BEGIN; {}", changes(5_000))).await.unwrap();
    fixture.run(&changes(9_000)).await;

    let read = fixture.store.list_search_changes(&position).await.unwrap();
    let FeedRead::Changes { changes: first, position: reached, has_more: true } = read else {
        panic!("{read:?}")
    };
    position = reached;
    fixture.run(&changes(10)).await;
    other.batch_execute("COMMIT").await.unwrap();

    assert_eq!(first.len(), 4_096);
    assert_eq!(follow(&fixture, &mut position).await.0, 9_000 - 4_096 + 10 + 5_000);
    assert_eq!(follow(&fixture, &mut position).await, (0, 1));
}

#[tokio::test]
async fn repeated_changes_of_a_profile_are_delivered_once() {
    let fixture = fixture().await;
    fixture.store.create_account(account(1)).await.unwrap();
    let mut position = fixture.store.search_position().await.unwrap();
    for _ in 0..30 {
        fixture
            .run("INSERT INTO search_feed (profile_id, created_at) SELECT id, created_at FROM profiles")
            .await;
    }

    assert_eq!(follow(&fixture, &mut position).await, (1, 1));
}

/// Ends the connections of the store, which then have reported their scans. Returns the sequential scans of the feed.
async fn scans_of_the_feed(fixture: Fixture) -> i64 {
    let Fixture { store, outside, database } = fixture;
    drop(store);
    let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let gone = async {
        while outside.query_one(others, &[]).await.unwrap().get::<_, i64>(0) > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), gone).await.expect("the connections end");
    let scans = "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'search_feed' AND idx_scan > 20";
    let scans = outside.query_one(scans, &[]).await.unwrap().get(0);
    drop(database);
    scans
}

#[tokio::test]
async fn plan_from_an_empty_feed_does_not_scan_a_full_one() {
    let fixture = fixture().await;
    fixture.run("TRUNCATE search_feed; ANALYZE search_feed").await;
    fixture.run("SELECT pg_stat_reset()").await;
    let mut position = fixture.store.search_position().await.unwrap();
    for _ in 0..20 {
        follow(&fixture, &mut position).await; // the server keeps a plan after a few executions
    }
    fixture.run(&changes(5_000)).await;

    assert_eq!(follow(&fixture, &mut position).await.0, 5_000);
    assert_eq!(scans_of_the_feed(fixture).await, 0);
}

#[tokio::test]
async fn changes_read_during_a_long_transaction_are_not_read_again() {
    let fixture = fixture().await;
    fixture.run("BEGIN; SELECT pg_current_xact_id()").await;
    let mut position = fixture.store.search_position().await.unwrap();
    let other = connect(fixture.database.url()).await;
    other.batch_execute(&changes(20_000)).await.unwrap();
    follow(&fixture, &mut position).await;

    let [lineage, seen] = position.0.split('/').collect::<Vec<_>>()[..] else { panic!("{position:?}") };
    assert!(!lineage.is_empty());
    let unseen = format!(
        "SELECT count(*) FROM search_feed WHERE place >= pg_snapshot_xmax('{seen}')::text::bigint
            OR place IN (SELECT pg_snapshot_xip('{seen}')::text::bigint)"
    );
    assert_eq!(fixture.number(&unseen).await, 0, "rows that a reading looks at");
    assert_eq!(fixture.number("SELECT count(*) FROM search_feed").await, 20_000);
}

#[tokio::test]
async fn cursor_unknown_to_the_server_is_lost() {
    let fixture = fixture().await;
    let position = fixture.store.search_position().await.unwrap();
    let [lineage, seen] = position.0.split('/').collect::<Vec<_>>()[..] else { panic!("{position:?}") };
    let ahead =
        fixture.number("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint").await + 1_000_000;

    for lost in [format!("{lineage}/{ahead}:{ahead}:"), format!("1{lineage}/{seen}"), seen.to_owned()] {
        let read = fixture.store.list_search_changes(&FeedPosition(lost.clone())).await.unwrap();
        assert_eq!(read, FeedRead::Lost, "{lost}");
    }
    let state = "CREATE TABLE restored AS TABLE search_feed_state; DROP TABLE search_feed_state;
        ALTER TABLE restored RENAME TO search_feed_state";
    fixture.run(state).await;
    assert_eq!(fixture.store.list_search_changes(&position).await.unwrap(), FeedRead::Lost, "another table");
}

#[tokio::test]
async fn repair_under_another_search_path_is_in_the_feed() {
    let fixture = fixture().await;
    fixture.store.create_account(account(1)).await.unwrap();
    let mut position = fixture.store.search_position().await.unwrap();
    fixture
        .run("SET search_path = ''; UPDATE public.profiles SET folded_name = 'mended'; RESET search_path")
        .await;

    assert_eq!(follow(&fixture, &mut position).await.0, 1);
}

#[tokio::test]
async fn changes_are_purged_after_one_or_two_days_and_foreign_ones_at_once() {
    const DAY: i64 = 24 * 60 * 60;
    let fixture = fixture().await;
    let count = async || fixture.number("SELECT count(*) FROM search_feed").await;
    let mut position = fixture.store.search_position().await.unwrap();
    fixture.run("INSERT INTO search_feed VALUES (1000000000000, gen_random_uuid(), 0)").await;
    assert_eq!(follow(&fixture, &mut position).await.0, 0, "the server has not come so far");
    fixture.run(&changes(5_000)).await;
    fixture.store.purge(at(0)).await.unwrap();
    assert_eq!(count().await, 5_000);

    fixture.store.purge(at(DAY - 1)).await.unwrap();
    assert_eq!(count().await, 5_000, "within a day");
    assert!(matches!(fixture.store.list_search_changes(&position).await.unwrap(), FeedRead::Changes { .. }));
    fixture.run(&changes(7)).await;
    fixture.store.purge(at(DAY)).await.unwrap();
    // Open transactions of other tests on the shared server may delay the purge.
    assert!([7, 5_007].contains(&count().await));
}

/// The server's plan of a statement, with indexes wherever it can use one.
async fn plan(fixture: &Fixture, sql: &str) -> String {
    fixture.run("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan").await;
    let lines = fixture.outside.query(&format!("EXPLAIN {sql}"), &[]).await.unwrap();
    lines.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn search_uses_the_index() {
    let fixture = fixture().await;
    let plan = plan(&fixture, "SELECT id FROM profiles WHERE searchable AND trigrams @> '{1,2}'").await;
    assert!(plan.contains("profiles_by_trigram"), "{plan}");
}

#[tokio::test]
async fn search_of_users_uses_the_index_of_names() {
    let fixture = fixture().await;
    let (.., sql) = all_statements().find(|(.., name, _)| *name == "SEARCH_CREATED_DOWN").unwrap();
    fixture.run(&format!("PREPARE search AS {}", sql.postgres())).await;
    let plan = plan(&fixture, &format!("EXECUTE search({})", ["NULL"; 17].join(", "))).await;
    assert!(plan.contains("profiles_by_name_trigram"), "{plan}");
}

#[tokio::test]
async fn user_whose_profile_an_earlier_version_wrote_is_found_by_name() {
    let fixture = fixture().await;
    for number in [1, 2] {
        fixture.store.create_account(account(number)).await.unwrap();
    }
    fixture.run("UPDATE profiles SET trigrams = array_remove(trigrams, NULL)").await;
    fixture.store.create_account(account(12)).await.unwrap();
    let list = |text| {
        let filter = UserFilter { search: UserSearch::parse(text), ..UserFilter::default() };
        let (order, position) = (UserSort::Created.order(), UserPosition::Offset(0));
        ListUsers { filter, order, position, limit: 9 }
    };

    let (both, all) =
        (fixture.store.list_users(&list("ser 1")).await, fixture.store.list_users(&list("ser")).await);

    assert_eq!((both.unwrap().total, all.unwrap().total), (2, 3));
}
