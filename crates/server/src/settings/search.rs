//! Section `search`.

use super::reader::Reader;

/// Section `search`.
#[derive(Debug)]
pub struct SearchSettings {
    /// What answers profile searches.
    pub engine: SearchBy,
}

/// What answers profile searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchBy {
    /// An index in memory.
    Memory,
    /// The database.
    Database,
}

impl SearchSettings {
    pub(super) fn read(reader: &Reader<'_>) -> Self {
        let is_database = reader.text("search.engine") == "database";
        Self { engine: if is_database { SearchBy::Database } else { SearchBy::Memory } }
    }
}
