//! The search feed: change data capture for a search index kept outside the database. A consumer reads all
//! entries once, then follows the changes.

use async_trait::async_trait;
use latchkey_domain::ids::ProfileId;
use latchkey_domain::profile::Profile;
use latchkey_domain::search::SearchText;
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;

/// Cursor of a feed consumer. The text is opaque outside the engine and valid for this database only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPosition(pub String);

/// A profile visible in search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchEntry {
    /// Id of the profile.
    pub id: ProfileId,
    /// Time of creation, a sort key of the matches. It never changes.
    pub created_at: Timestamp,
    /// Searchable text.
    pub text: SearchText,
}

/// Current state of a changed profile in search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchChange {
    /// Visible, with this text.
    Shown(SearchEntry),
    /// Not visible: deleted, or its user is banned or pending.
    Hidden {
        /// Id of the profile.
        id: ProfileId,
        /// Time of creation.
        created_at: Timestamp,
    },
}

/// Changes after a cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedRead {
    /// All changes, or the first batch.
    Changes {
        /// Each profile once, in its current state.
        changes: Vec<SearchChange>,
        /// Cursor of the next read.
        position: FeedPosition,
        /// True if more changes are available already.
        has_more: bool,
    },
    /// Changes after the cursor were purged: rebuild from all entries.
    Lost,
}

/// The search feed.
#[async_trait]
pub trait SearchFeed {
    /// Cursor at the current end of the feed. A consumer that takes the cursor first, then reads all entries,
    /// then follows the feed from the cursor misses no change.
    async fn search_position(&self) -> StoreResult<FeedPosition>;

    /// Profiles visible in search with an id above `after`, ascending by id (keyset pagination); at most `limit`.
    async fn list_search_entries(
        &self,
        after: Option<ProfileId>,
        limit: u32,
    ) -> StoreResult<Vec<SearchEntry>>;

    /// Changes after the cursor. Contains every write acknowledged before this call, of any instance, and skips
    /// none, in whatever order transactions commit. A change may be delivered more than once.
    async fn list_search_changes(&self, after: &FeedPosition) -> StoreResult<FeedRead>;

    /// Profiles with these ids that are visible in search, in the order of the ids.
    async fn list_found_profiles(&self, ids: &[ProfileId]) -> StoreResult<Vec<Profile>>;
}
