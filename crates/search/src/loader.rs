//! Filling a new index with many profiles, in little memory.

use crate::draft::Draft;
use crate::index::Index;
use crate::key::Entry;
use crate::part::Part;

/// Profiles that are taken together.
const AT_ONCE: usize = if cfg!(test) { 16 } else { 65_536 };

/// Takes profiles in any order and makes an index of them. Both take processor time, most of it at the end.
#[derive(Default)]
pub struct Loader {
    entries: Vec<Entry>,
    drafts: Vec<Draft>,
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
        let draft = match self.drafts.len() {
            0 | 1 => self.drafts.pop().unwrap_or_default(),
            _ => Draft::joined(self.drafts),
        };
        Index::of(Part::of(draft))
    }

    fn condense(&mut self) {
        if !self.entries.is_empty() {
            self.drafts.push(Draft::of(self.entries.iter().collect()));
            self.entries.clear();
        }
    }
}
