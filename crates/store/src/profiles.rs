//! Profiles: reading, changing, searching.

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
    /// Whose.
    pub user_id: UserId,
    /// A session of this user by which the change is made: it must live. `None` asks for no session.
    pub session: Option<SessionId>,
    /// What changes; by [`ProfilePatch::apply`] to the row as it is at that moment.
    pub patch: ProfilePatch,
    /// The versions that the caller accepts (of `If-Match`); `None` accepts any.
    pub if_version: Option<Vec<i64>>,
    /// The profile that is made where there is none; `None`: it is not made.
    pub create: Option<NewProfile>,
    /// When.
    pub now: Timestamp,
}

/// What came of changing a profile.
#[derive(Debug, Clone, PartialEq)]
pub enum UpdateProfileOutcome {
    /// The profile as it is now.
    Updated(Box<Profile>),
    /// The session does not live, or is another user's. Nothing else was looked at.
    NoSession,
    /// The user has no profile.
    NotFound,
    /// It has another version.
    PreconditionFailed,
    /// The username is taken.
    UsernameTaken,
    /// The custom fields would be too large together.
    TooLarge,
}

/// A page of found profiles.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileHits {
    /// How many match, exactly, at any offset.
    pub total: u64,
    /// Those of the page.
    pub profiles: Vec<Profile>,
}

/// Profiles.
#[async_trait]
pub trait Profiles {
    /// The profile of a user as everybody may see it: none of a banned or a pending user, like search.
    async fn find_profile(&self, user_id: UserId) -> StoreResult<Option<Profile>>;

    /// Changes a profile (or makes one) and what search finds of it, in one go.
    async fn update_profile(&self, update: UpdateProfile) -> StoreResult<UpdateProfileOutcome>;

    /// Profiles that match by [`latchkey_domain::search::matches`], best tier first, newest first in a tier, then by
    /// id descending; exact total. Finds every write that was answered before. Profiles of banned users are not found,
    /// nor those of pending ones: else a search for the name of a sign-up would tell whether its address was free.
    async fn search_profiles(&self, query: &SearchQuery, page: Page) -> StoreResult<ProfileHits>;
}
