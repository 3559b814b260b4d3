//! Searching profiles.

use latchkey_domain::client::Client;
use latchkey_domain::page::Page;
use latchkey_domain::search::SearchQuery;
use latchkey_store::ProfileHits;

use crate::error::Result;
use crate::service::Service;

impl Service {
    /// Profiles that match, and how many there are.
    pub async fn search_profiles(
        &self,
        query: &SearchQuery,
        page: Page,
        client: &Client,
    ) -> Result<ProfileHits> {
        self.limits.take_public_read(client, self.clock.now())?;
        Ok(self.store.search_profiles(query, page).await?)
    }
}
