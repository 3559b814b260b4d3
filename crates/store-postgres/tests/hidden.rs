//! What no caller of the contract can see but everybody who looks at the rows, and which index is used.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod world;

use async_trait::async_trait;
use latchkey_store::conformance::hidden::Look;
use latchkey_store::conformance::numbered::{account, user_id};
use latchkey_store::{Accounts, FeedPosition, FeedRead, SearchFeed, Store};

use world::{Looked, connect};

latchkey_store::hidden_tests!(looked);

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

#[tokio::test]
async fn a_search_reads_the_index() {
    let looked = looked().await;
    looked.run("SET enable_seqscan = off").await;
    let sql = "EXPLAIN SELECT id FROM profiles WHERE searchable AND trigrams @> '{1,2}'";
    let plan: Vec<String> =
        looked.outside.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert!(plan.join("\n").contains("profiles_by_trigram"), "{plan:?}");
}
