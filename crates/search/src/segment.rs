//! An immutable segment of the search index, and the evaluation of queries in it.

use std::borrow::Cow;
use std::sync::Arc;

use latchkey_domain::search::SearchQuery;
use memchr::memmem::Finder;
use roaring::RoaringBitmap;

use crate::exact_keys::ExactKeys;
use crate::inverted::Inverted;
use crate::key::Key;
use crate::memory_use::{MemoryUse, bytes_of_list};
use crate::segment_builder::{SegmentBuilder, Source};
use crate::survivors::Survivors;
use crate::trigrams::{TrigramIndex, precompute_prefixes};
use crate::unions::{COST_OF_TEXT, Precomputed, bytes_of_precomputed, unite};

/// An immutable set of indexed profiles. If a profile changes, its doc id in this segment is marked as hidden, and the
/// profile is indexed again in the memtable.
pub(crate) struct Segment {
    /// Keys of the profiles, ascending. The position of a key is the doc id of its profile.
    pub(crate) keys: Vec<Key>,
    words: Inverted,
    trigrams: TrigramIndex,
    precomputed: Precomputed,
    exact_keys: ExactKeys,
}

/// Doc ids that match a query, by relevance tier. Each doc id is in one tier.
pub(crate) struct SegmentHits {
    pub(crate) by_tier: [RoaringBitmap; 3],
}

impl Segment {
    pub(crate) fn of(builder: SegmentBuilder) -> Self {
        let SegmentBuilder { keys, words, exact_keys } = builder;
        let profiles = keys.len();
        let (trigrams, mut precomputed) = TrigramIndex::of(&words, profiles);
        precomputed.extend(precompute_prefixes(&words, profiles));
        Self { exact_keys: ExactKeys::of(exact_keys, profiles), keys, words, trigrams, precomputed }
    }

    pub(crate) fn source<'a>(&'a self, hidden: &'a RoaringBitmap) -> Source<'a> {
        Source { keys: &self.keys, words: &self.words, exact_keys: &self.exact_keys.keys, hidden }
    }

    pub(crate) fn memory_use(&self) -> MemoryUse {
        MemoryUse {
            keys: bytes_of_list(&self.keys),
            word_terms: self.words.terms.memory_use(),
            word_postings: self.words.memory_use_of_postings(),
            trigrams: self.trigrams.memory_use(),
            substrings: bytes_of_precomputed(&self.precomputed),
            exact_keys: self.exact_keys.keys.terms.memory_use()
                + self.exact_keys.keys.memory_use_of_postings(),
            prefixes: self.exact_keys.memory_use_of_prefixes(),
        }
    }

    pub(crate) fn doc(&self, key: &Key) -> Option<u32> {
        self.keys.binary_search(key).ok().and_then(|place| u32::try_from(place).ok())
    }

    /// Evaluates a query for all profiles but those in `hidden` (deleted or superseded). Returns `None` if no profile
    /// matches.
    pub(crate) fn find(&self, query: &SearchQuery, hidden: &RoaringBitmap) -> Option<SegmentHits> {
        let mut all = self.with_all_words(query)?;
        if !hidden.is_empty() {
            *all.to_mut() -= hidden;
        }
        if all.is_empty() {
            return None;
        }
        let text = query.folded();
        let prefixed = self.exact_keys.with_prefix(text, self.keys.len());
        if prefixed.is_empty() {
            let rest = all.into_owned();
            return Some(SegmentHits { by_tier: [RoaringBitmap::new(), RoaringBitmap::new(), rest] });
        }
        let exact = self.exact_keys.equal_to(text, self.keys.len()) - hidden;
        let prefix = (&*prefixed - hidden) - &exact;
        let rest = &*all - &*prefixed;
        Some(SegmentHits { by_tier: [exact, prefix, rest] })
    }

    /// Returns the profiles that match all query words, or `None` if there are none. Precomputed sets are intersected
    /// first, the smallest first; other words follow by estimated cost. Once few profiles are left, the remaining
    /// words are checked in these profiles only.
    fn with_all_words(&self, query: &SearchQuery) -> Option<Cow<'_, RoaringBitmap>> {
        let mut words: Vec<&str> = query.words().collect();
        words.sort_unstable();
        words.dedup();
        let mut known = Vec::new();
        words.retain(|word| self.precomputed.get(*word).map(|set| known.push(Arc::as_ref(set))).is_none());
        known.sort_by_cached_key(|set| set.len());

        let mut all: Option<Cow<'_, RoaringBitmap>> = None;
        for set in known {
            all = Some(intersect(all, Cow::Borrowed(set))?);
        }

        words.sort_by_cached_key(|word| self.cost(word));
        let mut words = words.into_iter();
        while !all.as_deref().is_some_and(|all| self.is_selective(all))
            && let Some(word) = words.next()
        {
            all = Some(intersect(all, Cow::Owned(self.with_word(word)))?);
        }
        match all {
            Some(all) if words.len() > 0 => self.keep_with(&all, words).map(Cow::Owned),
            all => all,
        }
    }

    fn is_selective(&self, set: &RoaringBitmap) -> bool {
        Survivors::pays(set, self.keys.len())
    }

    /// Filters a small set of profiles by the remaining query words. Returns `None` if no profile is left.
    fn keep_with<'a>(
        &self,
        few: &RoaringBitmap,
        words: impl Iterator<Item = &'a str>,
    ) -> Option<RoaringBitmap> {
        let mut survivors = Survivors::of(few, self.keys.len());
        for word in words {
            if SearchQuery::is_short(word) {
                survivors.keep(&self.words, self.words.terms.with_prefix(word), |_| true);
            } else {
                let finder = Finder::new(word);
                let is_asked = |number| finder.find(self.words.terms.get(number).as_bytes()).is_some();
                survivors.keep(&self.words, self.trigrams.candidates(word).into_iter(), is_asked);
            }
            if survivors.is_empty() {
                return None;
            }
        }
        Some(survivors.into_set())
    }

    /// Returns an estimated upper bound for the running time of [`Self::with_word`], in nanoseconds.
    fn cost(&self, word: &str) -> u64 {
        if SearchQuery::is_short(word) {
            self.words.terms.with_prefix(word).len() as u64 * COST_OF_TEXT
        } else {
            self.trigrams.cost(word)
        }
    }

    fn with_word(&self, word: &str) -> RoaringBitmap {
        let profiles = self.keys.len();
        if SearchQuery::is_short(word) {
            unite(&self.words, self.words.terms.with_prefix(word), profiles)
        } else {
            unite(&self.words, self.trigrams.words_containing(word, &self.words).into_iter(), profiles)
        }
    }
}

/// Intersects the set of a query word with the intersection of the earlier words' sets, if there is one. Returns `None`
/// if the result is empty.
fn intersect<'a>(
    all: Option<Cow<'a, RoaringBitmap>>,
    set: Cow<'a, RoaringBitmap>,
) -> Option<Cow<'a, RoaringBitmap>> {
    let both = match all {
        None => set,
        Some(Cow::Owned(all)) => Cow::Owned(all & &*set),
        Some(Cow::Borrowed(all)) => Cow::Owned(all & &*set),
    };
    (!both.is_empty()).then_some(both)
}
