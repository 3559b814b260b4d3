//! Memory use of an index, by purpose.

use roaring::RoaringBitmap;

/// Memory use in bytes, unused capacity included. Leaves out the allocator's overhead and the memtable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryUse {
    /// Sort keys of the profiles.
    pub keys: usize,
    /// Vocabulary.
    pub word_terms: usize,
    /// Postings of the vocabulary.
    pub word_postings: usize,
    /// Trigram index of the vocabulary.
    pub trigrams: usize,
    /// Precomputed sets of common substrings.
    pub substrings: usize,
    /// Whole names and usernames with their postings.
    pub exact_keys: usize,
    /// Precomputed sets of common prefixes of names and usernames.
    pub prefixes: usize,
}

impl MemoryUse {
    /// Sum of all purposes.
    #[must_use]
    pub const fn total(&self) -> usize {
        self.keys
            + self.word_terms
            + self.word_postings
            + self.trigrams
            + self.substrings
            + self.exact_keys
            + self.prefixes
    }

    pub(crate) const fn plus(self, other: Self) -> Self {
        Self {
            keys: self.keys + other.keys,
            word_terms: self.word_terms + other.word_terms,
            word_postings: self.word_postings + other.word_postings,
            trigrams: self.trigrams + other.trigrams,
            substrings: self.substrings + other.substrings,
            exact_keys: self.exact_keys + other.exact_keys,
            prefixes: self.prefixes + other.prefixes,
        }
    }
}

/// Bytes of a vector's allocation.
pub(crate) const fn bytes_of_list<T>(list: &Vec<T>) -> usize {
    list.capacity() * size_of::<T>()
}

/// Bytes of a bitmap with its containers.
pub(crate) fn bytes_of_set(set: &RoaringBitmap) -> usize {
    const CONTAINER: usize = 40;
    // The library's statistics count four bytes for a value of two, and bits of a bitset as bytes.
    let counted = set.statistics();
    let arrays = counted.n_bytes_array_containers / 2;
    let fields = counted.n_bytes_bitset_containers / 8;
    let held = usize::try_from(arrays + fields + counted.n_bytes_run_containers).unwrap_or(usize::MAX);
    size_of::<RoaringBitmap>() + counted.n_containers as usize * CONTAINER + held
}
