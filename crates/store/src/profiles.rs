//! Profiles: read, change, search.

use async_trait::async_trait;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::page::Page;
use latchkey_domain::profile::{NewProfile, Profile, ProfilePatch};
use latchkey_domain::search::SearchQuery;
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;

/// A change of a profile.
#[derive(Debug, Clone)]
pub struct UpdateProfile {
    /// Owner of the profile.
    pub user_id: UserId,
    /// Session of this user that makes the change; it must be live. `None` skips the check.
    pub session: Option<SessionId>,
    /// The change, applied by [`ProfilePatch::apply`] to the current row.
    pub patch: ProfilePatch,
    /// Versions accepted by `If-Match`; `None` accepts any.
    pub if_version: Option<Vec<i64>>,
    /// Profile to create if there is none; `None` creates none.
    pub create: Option<NewProfile>,
    /// Time of the request.
    pub now: Timestamp,
}

/// Outcome of a profile change.
#[derive(Debug, Clone, PartialEq)]
pub enum UpdateProfileOutcome {
    /// The profile after the change.
    Updated(Box<Profile>),
    /// The session is not live, or is another user's. Nothing else was checked.
    NoSession,
    /// The user has no profile.
    NotFound,
    /// The profile has another version.
    PreconditionFailed,
    /// The username is taken.
    UsernameTaken,
    /// The custom fields together exceed the size limit.
    TooLarge,
}

/// A page of search results.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileHits {
    /// Exact number of matches, at any offset.
    pub total: u64,
    /// Profiles of the page.
    pub profiles: Vec<Profile>,
}

/// Profiles.
#[async_trait]
pub trait Profiles {
    /// Public profile of a user; `None` for a banned or pending user, as in search.
    async fn find_profile(&self, user_id: UserId) -> StoreResult<Option<Profile>>;

    /// Changes a profile (or creates one) and its search index entry atomically.
    async fn update_profile(&self, update: UpdateProfile) -> StoreResult<UpdateProfileOutcome>;

    /// Profiles that match by [`latchkey_domain::search::matches`], ordered by rank, then newest first, then by
    /// id descending; exact total. Includes every write that was acknowledged before. Excludes profiles of banned
    /// users, and of pending ones: otherwise a search for the name of a sign-up would reveal whether its address
    /// was free.
    async fn search_profiles(&self, query: &SearchQuery, page: Page) -> StoreResult<ProfileHits>;
}
