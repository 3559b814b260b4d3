//! What no caller of the contract can see but everybody who looks at the rows, and which index is used.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod world;

use async_trait::async_trait;
use latchkey_store::Store;
use latchkey_store::conformance::hidden::Look;

use world::Looked;

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
async fn a_search_reads_the_index() {
    let looked = looked().await;
    looked.run("SET enable_seqscan = off").await;
    let sql = "EXPLAIN SELECT id FROM profiles WHERE searchable AND trigrams @> '{1,2}'";
    let plan: Vec<String> =
        looked.outside.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert!(plan.join("\n").contains("profiles_by_trigram"), "{plan:?}");
}
