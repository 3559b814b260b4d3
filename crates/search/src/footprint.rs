//! What an index takes in memory, counted by what it is taken for.

use std::collections::HashSet;
use std::sync::Arc;

use roaring::RoaringBitmap;

use crate::unions::Prepared;

/// Bytes of an index, room that is kept but not used included. What the allocator adds is not in it, nor what changed
/// last and is not yet in a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Footprint {
    /// Which profiles there are.
    pub keys: usize,
    /// The texts of all words.
    pub word_texts: usize,
    /// Which profiles have each word.
    pub word_ranks: usize,
    /// Which words hold each three characters.
    pub grams: usize,
    /// The sets of what is common in words, made in advance.
    pub common: usize,
    /// Whole names and usernames, and which profiles have them.
    pub heads: usize,
    /// The sets of common beginnings of names and usernames, made in advance.
    pub beginnings: usize,
}

impl Footprint {
    /// All of it.
    #[must_use]
    pub const fn total(&self) -> usize {
        self.keys
            + self.word_texts
            + self.word_ranks
            + self.grams
            + self.common
            + self.heads
            + self.beginnings
    }

    pub(crate) const fn plus(self, other: Self) -> Self {
        Self {
            keys: self.keys + other.keys,
            word_texts: self.word_texts + other.word_texts,
            word_ranks: self.word_ranks + other.word_ranks,
            grams: self.grams + other.grams,
            common: self.common + other.common,
            heads: self.heads + other.heads,
            beginnings: self.beginnings + other.beginnings,
        }
    }
}

/// Room of a list.
pub(crate) const fn bytes_of_list<T>(list: &Vec<T>) -> usize {
    list.capacity() * size_of::<T>()
}

/// A set with its containers.
pub(crate) fn bytes_of_set(set: &RoaringBitmap) -> usize {
    const CONTAINER: usize = 40;
    // The library's account takes the two bytes of a value for four, and the bits of a field for bytes.
    let counted = set.statistics();
    let arrays = counted.n_bytes_array_containers / 2;
    let fields = counted.n_bytes_bitset_containers / 8;
    let held = usize::try_from(arrays + fields + counted.n_bytes_run_containers).unwrap_or(usize::MAX);
    size_of::<RoaringBitmap>() + counted.n_containers as usize * CONTAINER + held
}

/// Sets by text; those that several texts share are counted once.
pub(crate) fn bytes_of_prepared(prepared: &Prepared) -> usize {
    let mut seen = HashSet::new();
    let sets = prepared.values().filter(|set| seen.insert(Arc::as_ptr(set)));
    let texts: usize = prepared.keys().map(|text| text.len()).sum();
    let slots = prepared.capacity() * (size_of::<Box<str>>() + size_of::<Arc<RoaringBitmap>>() + 1);
    texts + slots + sets.map(|set| bytes_of_set(set)).sum::<usize>()
}
