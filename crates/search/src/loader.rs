//! Bulk loading of a new search index. The temporary memory is bounded by sorting in runs (see `sorted_runs`).

use crate::index::Index;
use crate::key::Entry;
use crate::segment::Segment;
use crate::sorted_runs::{MAX_RUN, SortedRuns};

/// Number of profiles that are sorted together before they are encoded as a run.
const RUN_SIZE: usize = if cfg!(test) { 16 } else { MAX_RUN };

/// Builder of an index from profiles in any order. CPU-bound, most of it in [`Self::finish`].
#[derive(Default)]
pub struct Loader {
    entries: Vec<Entry>,
    runs: SortedRuns,
}

impl Loader {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a profile. Its key must differ from all keys added before.
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
