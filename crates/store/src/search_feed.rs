//! What search shows, for whoever keeps an index of it beside the database: all of it once, then every change.

use async_trait::async_trait;
use latchkey_domain::ids::ProfileId;
use latchkey_domain::profile::Profile;
use latchkey_domain::search::SearchText;
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;

/// How far somebody has read the changes. The engine knows what the text means; it holds for this database alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPosition(pub String);

/// A profile that search shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchEntry {
    /// Which profile.
    pub id: ProfileId,
    /// When it was made: its place among the matches. It never changes.
    pub created_at: Timestamp,
    /// What is searched of it.
    pub text: SearchText,
}

/// What became of a profile, as far as search goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchChange {
    /// Search shows it, with this text.
    Shown(SearchEntry),
    /// Search does not show it: it is gone, or its user is banned or pending.
    Hidden {
        /// Which profile.
        id: ProfileId,
        /// When it was made.
        created_at: Timestamp,
    },
}

/// The changes after a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedRead {
    /// All of them, or the first of them.
    Changes {
        /// Each profile once, as it is now.
        changes: Vec<SearchChange>,
        /// Where to read on.
        position: FeedPosition,
        /// Whether there are more already.
        has_more: bool,
    },
    /// The position lies too far back: changes after it were purged already. Read everything anew.
    Lost,
}

/// Following what search shows.
#[async_trait]
pub trait SearchFeed {
    /// Where the changes end now. Whoever reads all entries after asking this, and then the changes from here on,
    /// misses nothing.
    async fn search_position(&self) -> StoreResult<FeedPosition>;

    /// Profiles that search shows, ascending by id, after this one; at most `limit`.
    async fn list_search_entries(
        &self,
        after: Option<ProfileId>,
        limit: u32,
    ) -> StoreResult<Vec<SearchEntry>>;

    /// What changed after the position: every write that was answered before this call is in it, whoever made it,
    /// and none is ever left out, in whatever order transactions end. A change may come more than once.
    async fn list_search_changes(&self, after: &FeedPosition) -> StoreResult<FeedRead>;

    /// The profiles of these ids that search shows, in the order of the ids.
    async fn list_found_profiles(&self, ids: &[ProfileId]) -> StoreResult<Vec<Profile>>;
}
