//! Operations that SQLite implements in its own way: search, readiness check, purge. The search feed is in
//! `search_feed`.

use async_trait::async_trait;
use latchkey_domain::page::Page;
use latchkey_domain::search::SearchQuery;
use latchkey_domain::time::Timestamp;
use latchkey_store::{ProfileHits, StoreResult};
use latchkey_store_operations::{NameQuery, Own};

use crate::search;
use crate::statements::{execute, number};
use crate::store::{BEAT, Sqlite};

const READ_BEAT: &str = "SELECT beat FROM health WHERE id = 1";

#[async_trait]
impl Own for Sqlite {
    async fn search_profiles(&self, query: &SearchQuery, page: Page) -> StoreResult<ProfileHits> {
        let query = query.clone();
        let found = self.read_elsewhere(move |conn| search::search(conn, &query, page)).await?;
        if found.is_index_behind {
            self.catch_up();
        }
        Ok(found.hits)
    }

    fn name_query(query: &SearchQuery, longest: String, others: Vec<String>) -> NameQuery {
        let others = serde_json::Value::from(others).to_string();
        let is_exact = search::is_exact_by_name(query);
        NameQuery { candidates: search::candidates_by_name(query), is_exact, longest, others }
    }

    async fn check(&self) -> StoreResult<()> {
        self.run(|conn| execute(conn, BEAT, [])).await?;
        self.read_here(|conn| number(conn, READ_BEAT, []))?;
        Ok(())
    }

    async fn purge(&self, now: Timestamp) -> StoreResult<u64> {
        self.purge_all(now).await
    }
}
