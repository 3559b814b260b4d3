//! Implementation of [`SearchFeed`], which passes every call on to the engine.

use async_trait::async_trait;
use latchkey_domain::ids::ProfileId;
use latchkey_domain::profile::Profile;
use latchkey_store::{FeedPosition, FeedRead, SearchEntry, SearchFeed, StoreResult};

use super::{Engine, Own};

#[crate::measured]
#[async_trait]
impl<E: Own> SearchFeed for Engine<E> {
    async fn search_position(&self) -> StoreResult<FeedPosition> {
        self.0.search_position().await
    }

    async fn list_search_entries(
        &self,
        after: Option<ProfileId>,
        limit: u32,
    ) -> StoreResult<Vec<SearchEntry>> {
        self.0.list_search_entries(after, limit).await
    }

    async fn list_search_changes(&self, after: &FeedPosition) -> StoreResult<FeedRead> {
        self.0.list_search_changes(after).await
    }

    async fn list_found_profiles(&self, ids: &[ProfileId]) -> StoreResult<Vec<Profile>> {
        self.0.list_found_profiles(ids).await
    }
}
