//! Input types of the index.

use latchkey_domain::ids::ProfileId;
use latchkey_domain::search::SearchText;
use latchkey_domain::time::Timestamp;

/// Identity and sort key of a profile: by time of creation, then by id. It never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub created_at: Timestamp,
    pub id: ProfileId,
}

/// A searchable profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub key: Key,
    /// Folded text of the searchable fields.
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
    /// Key of the changed profile.
    #[must_use]
    pub const fn key(&self) -> Key {
        match self {
            Self::Upsert(entry) => entry.key,
            Self::Remove(key) => *key,
        }
    }
}
