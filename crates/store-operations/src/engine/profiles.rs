//! Profiles.

use async_trait::async_trait;
use latchkey_domain::ids::UserId;
use latchkey_domain::page::Page;
use latchkey_domain::profile::Profile;
use latchkey_domain::search::SearchQuery;
use latchkey_store::{ProfileHits, Profiles, StoreResult, UpdateProfile, UpdateProfileOutcome};

use super::{Engine, Own};
use crate::operations::profiles;

#[async_trait]
impl<E: Own> Profiles for Engine<E> {
    async fn find_profile(&self, user_id: UserId) -> StoreResult<Option<Profile>> {
        profiles::find_profile(&self.0, user_id).await
    }

    async fn update_profile(&self, update: UpdateProfile) -> StoreResult<UpdateProfileOutcome> {
        profiles::update_profile(&self.0, update).await
    }

    async fn search_profiles(&self, query: &SearchQuery, page: Page) -> StoreResult<ProfileHits> {
        Own::search_profiles(&self.0, query, page).await
    }
}
