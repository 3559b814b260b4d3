//! Filling a new index with many profiles, in little memory.

use crate::index::Index;
use crate::key::Entry;
use crate::part::Part;
use crate::runs::{MOST, Runs};

/// Profiles that are taken together.
const AT_ONCE: usize = if cfg!(test) { 16 } else { MOST };

/// Takes profiles in any order and makes an index of them. Both take processor time, most of it at the end.
#[derive(Default)]
pub struct Loader {
    entries: Vec<Entry>,
    runs: Runs,
}

impl Loader {
    /// A loader without profiles.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a profile. Each may come once.
    pub fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
        if self.entries.len() >= AT_ONCE {
            self.condense();
        }
    }

    /// The index of all of them.
    #[must_use]
    pub fn finish(mut self) -> Index {
        self.condense();
        drop(self.entries);
        Index::of(Part::of(self.runs.joined()))
    }

    fn condense(&mut self) {
        if !self.entries.is_empty() {
            self.runs.push(self.entries.iter().collect());
            self.entries.clear();
        }
    }
}
