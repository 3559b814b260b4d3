//! Contract for profiles: lookup, change and search.

use async_trait::async_trait;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::page::Page;
use latchkey_domain::profile::{NewProfile, Profile, ProfilePatch};
use latchkey_domain::search::SearchQuery;
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;

/// A change of a user's profile.
#[derive(Debug, Clone)]
pub struct UpdateProfile {
    /// Id of the profile's user.
    pub user_id: UserId,
    /// Session that makes the change. It must be live and belong to the user. `None` skips this check.
    pub session: Option<SessionId>,
    /// Changed fields, applied by [`ProfilePatch::apply`] to the current row.
    pub patch: ProfilePatch,
    /// Versions that the `If-Match` header names; the current version must be one of them. `None` accepts any version.
    pub if_version: Option<Vec<i64>>,
    /// Profile to create if the user has none; `None` creates none.
    pub create: Option<NewProfile>,
    /// Time of the request, used as the current time throughout the operation.
    pub now: Timestamp,
}

/// Outcome of [`Profiles::update_profile`].
#[derive(Debug, Clone, PartialEq)]
pub enum UpdateProfileOutcome {
    /// The profile after the change.
    Updated(Box<Profile>),
    /// The session has ended or belongs to another user. Nothing else was checked.
    NoSession,
    /// The user has no profile, and none was to be created.
    NotFound,
    /// The current version is none of those in `if_version`.
    PreconditionFailed,
    /// Another profile has the username.
    UsernameTaken,
    /// All custom fields together would exceed 16 KiB of JSON.
    TooLarge,
}

/// A page of search results.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileHits {
    /// Exact number of matching profiles, over all pages.
    pub total: u64,
    /// Profiles of the page, best match first.
    pub profiles: Vec<Profile>,
}

/// Profiles of users: lookup, change and search.
#[async_trait]
pub trait Profiles {
    /// Finds the public profile of a user. Returns `None` for banned and pending users, which search omits too.
    async fn find_profile(&self, user_id: UserId) -> StoreResult<Option<Profile>>;

    /// Changes or creates a profile, and updates its entry in the search index, in one transaction.
    async fn update_profile(&self, update: UpdateProfile) -> StoreResult<UpdateProfileOutcome>;

    /// Searches profiles by [`latchkey_domain::search::matches`]. They are ordered by relevance
    /// ([`latchkey_domain::search::Tier`]), then newest first, then by id descending. Every write
    /// acknowledged before the call is included. Profiles of banned and pending users are excluded: a search
    /// for the name in a sign-up would otherwise reveal whether its address was free.
    async fn search_profiles(&self, query: &SearchQuery, page: Page) -> StoreResult<ProfileHits>;
}
