//! Input types of the search index: profiles and their changes.

use latchkey_domain::ids::ProfileId;
use latchkey_domain::search::SearchText;
use latchkey_domain::time::Timestamp;

/// Identity and sort key of a profile. Keys sort by time of creation, then by id. The key of a profile never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub created_at: Timestamp,
    pub id: ProfileId,
}

/// A profile as the index stores it: its key and its searchable text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub key: Key,
    /// Text of the searchable fields, folded for comparison (see [`latchkey_domain::fold`]).
    pub text: SearchText,
}

/// Change of a profile in the search feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Inserts the profile or replaces its text.
    Upsert(Entry),
    /// Removes the profile, which need not be indexed.
    Remove(Key),
}

impl Change {
    #[must_use]
    pub const fn key(&self) -> Key {
        match self {
            Self::Upsert(entry) => entry.key,
            Self::Remove(key) => *key,
        }
    }
}
