//! What no caller of the contract can see but everybody who looks at the rows, and which index is used.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod world;

use async_trait::async_trait;
use latchkey_store::{Accounts, FeedPosition, FeedRead, SearchFeed, Store};
use latchkey_store_suite::conformance::hidden::Look;
use latchkey_store_suite::conformance::numbered::{account, at, user_id};

use world::{Looked, connect};

latchkey_store_suite::hidden_tests!(looked);

async fn looked() -> Looked {
    Looked::new().await
}

#[async_trait]
impl Look for Looked {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    async fn text(&self, sql: &str) -> String {
        self.one(&format!("SELECT ({sql})::text")).await
    }
}

#[tokio::test]
async fn a_change_that_ends_late_is_told_late_and_not_left_out() {
    let looked = looked().await;
    for number in [1, 2] {
        looked.store.create_account(account(number)).await.unwrap();
    }
    let begun = looked.store.search_position().await.unwrap();
    let told = async |position: &FeedPosition| match looked.store.list_search_changes(position).await.unwrap()
    {
        FeedRead::Changes { changes, position, .. } => (changes.len(), position),
        FeedRead::Lost => panic!("the position is new"),
    };

    let of = |number: u64| format!("WHERE user_id = '{}'", user_id(number));
    looked.run(&format!("BEGIN; UPDATE profiles SET folded_name = 'early' {}", of(1))).await;
    let other = connect(looked.database.url()).await;
    other.batch_execute(&format!("UPDATE profiles SET folded_name = 'late' {}", of(2))).await.unwrap();
    let (count, position) = told(&begun).await;
    assert_eq!(count, 1, "the transaction that began later has ended first");

    looked.run("COMMIT").await;
    let (count, position) = told(&position).await;
    assert_eq!(count, 1, "the one that began earlier");
    assert_eq!(told(&position).await.0, 0);
}

/// Reads to the end; answers how many changes came in how many readings.
async fn follow(looked: &Looked, position: &mut FeedPosition) -> (usize, usize) {
    let (mut told, mut readings) = (0, 0);
    loop {
        match looked.store.list_search_changes(position).await.unwrap() {
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
async fn many_changes_come_in_pages_and_what_ends_between_them_comes_after() {
    let looked = looked().await;
    let mut position = looked.store.search_position().await.unwrap();
    let other = connect(looked.database.url()).await;
    other.batch_execute(&format!("BEGIN; {}", changes(5_000))).await.unwrap();
    looked.run(&changes(9_000)).await;

    let read = looked.store.list_search_changes(&position).await.unwrap();
    let FeedRead::Changes { changes: first, position: reached, has_more: true } = read else {
        panic!("{read:?}")
    };
    position = reached;
    looked.run(&changes(10)).await;
    other.batch_execute("COMMIT").await.unwrap();

    assert_eq!(first.len(), 4_096);
    assert_eq!(follow(&looked, &mut position).await.0, 9_000 - 4_096 + 10 + 5_000);
    assert_eq!(follow(&looked, &mut position).await, (0, 1));
}

#[tokio::test]
async fn a_profile_that_changed_often_is_told_once() {
    let looked = looked().await;
    looked.store.create_account(account(1)).await.unwrap();
    let mut position = looked.store.search_position().await.unwrap();
    for _ in 0..30 {
        looked
            .run("INSERT INTO search_feed (profile_id, created_at) SELECT id, created_at FROM profiles")
            .await;
    }

    assert_eq!(follow(&looked, &mut position).await, (1, 1));
}

#[tokio::test]
async fn what_was_read_beside_an_old_transaction_is_not_read_again() {
    let looked = looked().await;
    looked.run("BEGIN; SELECT pg_current_xact_id()").await;
    let mut position = looked.store.search_position().await.unwrap();
    let other = connect(looked.database.url()).await;
    other.batch_execute(&changes(20_000)).await.unwrap();
    follow(&looked, &mut position).await;

    let [lineage, seen] = position.0.split('/').collect::<Vec<_>>()[..] else { panic!("{position:?}") };
    assert!(!lineage.is_empty());
    let unseen = format!(
        "SELECT count(*) FROM search_feed WHERE place >= pg_snapshot_xmax('{seen}')::text::bigint
            OR place IN (SELECT pg_snapshot_xip('{seen}')::text::bigint)"
    );
    assert_eq!(looked.number(&unseen).await, 0, "rows that a reading looks at");
    assert_eq!(looked.number("SELECT count(*) FROM search_feed").await, 20_000);
}

#[tokio::test]
async fn a_position_that_the_server_cannot_have_given_is_lost() {
    let looked = looked().await;
    let position = looked.store.search_position().await.unwrap();
    let [lineage, seen] = position.0.split('/').collect::<Vec<_>>()[..] else { panic!("{position:?}") };
    let ahead =
        looked.number("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint").await + 1_000_000;

    for lost in [format!("{lineage}/{ahead}:{ahead}:"), format!("1{lineage}/{seen}"), seen.to_owned()] {
        let read = looked.store.list_search_changes(&FeedPosition(lost.clone())).await.unwrap();
        assert_eq!(read, FeedRead::Lost, "{lost}");
    }
    let state = "CREATE TABLE restored AS TABLE search_feed_state; DROP TABLE search_feed_state;
        ALTER TABLE restored RENAME TO search_feed_state";
    looked.run(state).await;
    assert_eq!(looked.store.list_search_changes(&position).await.unwrap(), FeedRead::Lost, "another table");
}

#[tokio::test]
async fn a_repair_under_another_search_path_is_fed() {
    let looked = looked().await;
    looked.store.create_account(account(1)).await.unwrap();
    let mut position = looked.store.search_position().await.unwrap();
    looked
        .run("SET search_path = ''; UPDATE public.profiles SET folded_name = 'mended'; RESET search_path")
        .await;

    assert_eq!(follow(&looked, &mut position).await.0, 1);
}

#[tokio::test]
async fn changes_go_after_a_day_or_two_and_those_of_elsewhere_at_once() {
    const DAY: i64 = 24 * 60 * 60;
    let looked = looked().await;
    let count = async || looked.number("SELECT count(*) FROM search_feed").await;
    let mut position = looked.store.search_position().await.unwrap();
    looked.run("INSERT INTO search_feed VALUES (1000000000000, gen_random_uuid(), 0)").await;
    assert_eq!(follow(&looked, &mut position).await.0, 0, "the server has not come so far");
    looked.run(&changes(5_000)).await;
    looked.store.purge(at(0)).await.unwrap();
    assert_eq!(count().await, 5_000);

    looked.store.purge(at(DAY - 1)).await.unwrap();
    assert_eq!(count().await, 5_000, "within a day");
    assert!(matches!(looked.store.list_search_changes(&position).await.unwrap(), FeedRead::Changes { .. }));
    looked.run(&changes(7)).await;
    looked.store.purge(at(DAY)).await.unwrap();
    // Other tests share the server: what they have open may keep changes for longer.
    assert!([7, 5_007].contains(&count().await));
}

#[tokio::test]
async fn a_search_reads_the_index() {
    let looked = looked().await;
    looked.run("SET enable_seqscan = off").await;
    let sql = "EXPLAIN SELECT id FROM profiles WHERE searchable AND trigrams @> '{1,2}'";
    let plan: Vec<String> =
        looked.outside.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert!(plan.join("\n").contains("profiles_by_trigram"), "{plan:?}");
}
