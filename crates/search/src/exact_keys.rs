//! Index of whole names and usernames, which finds profiles by equality and by prefix.

use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringBitmap;

use crate::inverted::Inverted;
use crate::unions::{Precomputed, bytes_of_precomputed, unite};

/// The set of profiles of a prefix is precomputed if the terms that begin with the prefix have more postings than this
/// number.
const COMMON: usize = if cfg!(test) { 3 } else { 8_192 };
/// Maximum length of a precomputed prefix, in characters. Queries rarely exceed it.
const LONGEST_PREFIX: usize = 64;

/// Names and usernames with their postings, and a precomputed set of profiles for each common prefix.
pub(crate) struct ExactKeys {
    pub(crate) keys: Inverted,
    prefixes: Precomputed,
}

impl ExactKeys {
    pub(crate) fn of(keys: Inverted, profiles: usize) -> Self {
        let mut prefixes = Precomputed::new();
        let all = 0..keys.terms.len();
        let mut sets = PrefixSets { keys: &keys, profiles, made: &mut prefixes };
        sets.split(&all, 0, 0);
        Self { keys, prefixes }
    }

    /// Returns the memory use of the precomputed sets in bytes, without the names and usernames.
    pub(crate) fn memory_use_of_prefixes(&self) -> usize {
        bytes_of_precomputed(&self.prefixes)
    }

    /// Returns the profiles whose name or username equals the text: [`latchkey_domain::search::Tier::Exact`].
    pub(crate) fn equal_to(&self, text: &str, profiles: usize) -> RoaringBitmap {
        unite(&self.keys, self.keys.terms.find(text).into_iter(), profiles)
    }

    /// Returns the profiles whose name or username begins with the text: [`latchkey_domain::search::Tier::Exact`] and
    /// [`latchkey_domain::search::Tier::Prefix`].
    pub(crate) fn with_prefix(&self, text: &str, profiles: usize) -> Arc<RoaringBitmap> {
        match self.prefixes.get(text) {
            Some(set) => Arc::clone(set),
            None => Arc::new(unite(&self.keys, self.keys.terms.with_prefix(text), profiles)),
        }
    }
}

struct PrefixSets<'a> {
    keys: &'a Inverted,
    profiles: usize,
    made: &'a mut Precomputed,
}

impl PrefixSets<'_> {
    /// Groups the terms in `range`, which all begin with the same `at` bytes, by their next character. Precomputes the
    /// set of profiles of each large group.
    fn split(&mut self, range: &Range<usize>, at: usize, chars: usize) {
        let mut start = range.start;
        while start < range.end {
            let text = self.keys.terms.get(start);
            let Some(next) = text[at..].chars().next() else {
                start += 1; // the term that ends here sorts first
                continue;
            };
            let reach = at + next.len_utf8();
            let prefix = &text[..reach];
            let end = self.keys.terms.partition_point(start..range.end, |term| term.starts_with(prefix));
            self.precompute(&(start..end), prefix, chars + 1);
            start = end;
        }
    }

    fn precompute(&mut self, range: &Range<usize>, prefix: &str, chars: usize) {
        let docs: usize = range.clone().map(|number| self.keys.postings(number).len()).sum();
        if docs <= COMMON {
            return;
        }
        let before = &prefix[..prefix.char_indices().next_back().map_or(0, |(at, _)| at)];
        let set = Arc::new(unite(self.keys, range.clone(), self.profiles));
        // This set is a subset of the shorter prefix's set. If both have the same size, they are equal and share
        // memory.
        let same = self.made.get(before).filter(|shorter| shorter.len() == set.len());
        let set = same.map_or(set, Arc::clone);
        self.made.insert(prefix.into(), set);
        if chars < LONGEST_PREFIX {
            self.split(range, prefix.len(), chars);
        }
    }
}
