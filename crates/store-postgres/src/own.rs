//! Operations that PostgreSQL implements in its own way: readiness check and purge. Search and its feed are in
//! `search` and `search_feed`.

use async_trait::async_trait;
use latchkey_domain::page::Page;
use latchkey_domain::search::SearchQuery;
use latchkey_domain::time::Timestamp;
use latchkey_store::{ProfileHits, Settings, StoreResult, StoredSettings};
use latchkey_store_operations::{Engine, NameQuery, Own};

use crate::search;
use crate::store::Postgres;
use crate::trigrams;

const BEAT: &str = "UPDATE health SET beat = beat + 1 WHERE id = 1";
/// Migration that creates the settings table.
const SETTINGS_MADE_BY: &str = "0007_settings";

#[async_trait]
impl Own for Postgres {
    async fn search_profiles(&self, query: &SearchQuery, page: Page) -> StoreResult<ProfileHits> {
        search::search(self, query, page).await
    }

    fn name_query(query: &SearchQuery, longest: String, others: Vec<String>) -> NameQuery {
        let candidates: Vec<_> = trigrams::of_query(query).iter().map(ToString::to_string).collect();
        let is_exact = false; // trigrams are hashes
        NameQuery { candidates: candidates.join(" "), is_exact, longest, others: others.join("\n") }
    }

    async fn check(&self) -> StoreResult<()> {
        self.execute(BEAT, Vec::new()).await?;
        Ok(())
    }

    async fn purge(&self, now: Timestamp) -> StoreResult<u64> {
        self.purge_all(now).await
    }
}

impl Postgres {
    /// Reads the settings that are stored in the database, even if its schema is outdated, and changes nothing.
    /// Returns `None` if there is no settings table yet.
    pub async fn stored_settings(store: &Engine<Self>) -> StoreResult<Option<StoredSettings>> {
        if store.check_migrations().await?.contains(&SETTINGS_MADE_BY) {
            return Ok(None);
        }
        store.load_settings().await.map(Some)
    }
}
