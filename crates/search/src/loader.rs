//! Bulk loading of a new index in bounded memory.

use crate::index::Index;
use crate::key::Entry;
use crate::segment::Segment;
use crate::sorted_runs::{MAX_RUN, SortedRuns};

/// Profiles per sorted run.
const RUN_SIZE: usize = if cfg!(test) { 16 } else { MAX_RUN };

/// Builds an index from profiles in any order. CPU-bound, most of it in [`Self::finish`].
#[derive(Default)]
pub struct Loader {
    entries: Vec<Entry>,
    runs: SortedRuns,
}

impl Loader {
    /// Creates an empty loader.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a profile. Each key may be added once.
    pub fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
        if self.entries.len() >= RUN_SIZE {
            self.sort_run();
        }
    }

    /// Merges the sorted runs into an index of one segment.
    #[must_use]
    pub fn finish(mut self) -> Index {
        self.sort_run();
        drop(self.entries);
        Index::of(Segment::of(self.runs.merged()))
    }

    fn sort_run(&mut self) {
        if !self.entries.is_empty() {
            self.runs.push(self.entries.iter().collect());
            self.entries.clear();
        }
    }
}
