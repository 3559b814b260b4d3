//! Memory use of a search index, broken down by purpose.

use roaring::RoaringBitmap;

/// Memory use in bytes by purpose, unused capacity included. The memtable and the allocator's overhead are not
/// included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryUse {
    /// Bytes of the identities and creation times of the profiles ([`crate::Key`]).
    pub keys: usize,
    /// Bytes of the texts of the distinct words of all fields.
    pub word_terms: usize,
    /// Bytes of the postings of the words of all fields.
    pub word_postings: usize,
    /// Bytes of the trigram index of the words of all fields.
    pub trigrams: usize,
    /// Bytes of the precomputed sets of profiles for common substrings of words.
    pub substrings: usize,
    /// Bytes of the index of whole names and usernames.
    pub exact_keys: usize,
    /// Bytes of the precomputed sets of profiles for common prefixes of names and usernames.
    pub prefixes: usize,
}

impl MemoryUse {
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

/// Returns the size of a vector's allocation in bytes, unused capacity included.
pub(crate) const fn bytes_of_list<T>(list: &Vec<T>) -> usize {
    list.capacity() * size_of::<T>()
}

/// Returns the memory use of a bitmap and its containers in bytes.
pub(crate) fn bytes_of_set(set: &RoaringBitmap) -> usize {
    const CONTAINER: usize = 40;
    // The library's statistics report four bytes per value of an array container, which takes two, and a byte per bit
    // of a bitset container.
    let counted = set.statistics();
    let arrays = counted.n_bytes_array_containers / 2;
    let fields = counted.n_bytes_bitset_containers / 8;
    let held = usize::try_from(arrays + fields + counted.n_bytes_run_containers).unwrap_or(usize::MAX);
    size_of::<RoaringBitmap>() + counted.n_containers as usize * CONTAINER + held
}
