//! What comes into the index.

use latchkey_domain::ids::ProfileId;
use latchkey_domain::search::SearchText;
use latchkey_domain::time::Timestamp;

/// Which profile, and its place in the order of making: the order of keys. A profile keeps its key for life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// When the profile was made.
    pub created_at: Timestamp,
    /// The profile.
    pub id: ProfileId,
}

/// A profile that can be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Which profile.
    pub key: Key,
    /// What is searched of it.
    pub text: SearchText,
}

/// What happened to a profile, as far as search goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It is found by this text from now on.
    Show(Entry),
    /// It is not found any more.
    Hide(Key),
}

impl Change {
    /// Whose change it is.
    #[must_use]
    pub const fn key(&self) -> Key {
        match self {
            Self::Show(entry) => entry.key,
            Self::Hide(key) => *key,
        }
    }
}
