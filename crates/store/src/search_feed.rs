//! Contract for the search feed: change data capture for a search index outside the database. A consumer reads all
//! entries once and then applies the changes.

use async_trait::async_trait;
use latchkey_domain::ids::ProfileId;
use latchkey_domain::profile::Profile;
use latchkey_domain::search::SearchText;
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;

/// Position of a consumer in the feed. The text is opaque to consumers and valid for this database only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPosition(pub String);

/// A profile that search can find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchEntry {
    /// Id of the profile.
    pub id: ProfileId,
    /// Creation time of the profile, a sort key of search results. It never changes.
    pub created_at: Timestamp,
    /// Text of the profile's searchable fields, folded: without differences of case, accents and width.
    pub text: SearchText,
}

/// State of a profile in search after its latest change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchChange {
    /// Search can find the profile, with this text.
    Shown(SearchEntry),
    /// Search cannot find the profile: it was deleted, or its user is banned or pending.
    Hidden {
        /// Id of the profile.
        id: ProfileId,
        /// Creation time of the profile.
        created_at: Timestamp,
    },
}

/// Result of [`SearchFeed::list_search_changes`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedRead {
    /// The changes after the position, or the first batch of them.
    Changes {
        /// Changed profiles, each once, in their current state.
        changes: Vec<SearchChange>,
        /// Position after these changes, for the next read.
        position: FeedPosition,
        /// True if more changes can be read at once.
        has_more: bool,
    },
    /// Changes after the position were purged. The consumer must rebuild its index from all entries.
    Lost,
}

/// The search feed: current entries of profiles that search can find, and changes of them.
#[async_trait]
pub trait SearchFeed {
    /// Returns the position at the current end of the feed. A consumer misses no change if it gets the position
    /// first, then reads all entries, and then the changes after the position.
    async fn search_position(&self) -> StoreResult<FeedPosition>;

    /// Lists profiles that search can find, with ids above `after`, by ascending id; at most `limit`.
    async fn list_search_entries(
        &self,
        after: Option<ProfileId>,
        limit: u32,
    ) -> StoreResult<Vec<SearchEntry>>;

    /// Lists the changes after a position: every write, of any instance, that was acknowledged before this call. None
    /// is skipped, in whatever order transactions commit. A change may be returned more than once.
    async fn list_search_changes(&self, after: &FeedPosition) -> StoreResult<FeedRead>;

    /// Returns the profiles with these ids that search can find, in the order of `ids`.
    async fn list_found_profiles(&self, ids: &[ProfileId]) -> StoreResult<Vec<Profile>>;
}
