//! One unchanging part of the index, and what a query finds in it.

use std::borrow::Cow;
use std::sync::Arc;

use latchkey_domain::search::SearchQuery;
use memchr::memmem::Finder;
use roaring::RoaringBitmap;

use crate::draft::{Draft, Source};
use crate::footprint::{Footprint, bytes_of_list, bytes_of_prepared};
use crate::grams::{Grams, prepare_beginnings};
use crate::inverted::Inverted;
use crate::key::Key;
use crate::left::Left;
use crate::tiers::Tiers;
use crate::unions::{COST_OF_TEXT, Prepared, unite};

/// Profiles that stay as they are. Whoever changes is hidden here and comes back elsewhere.
pub(crate) struct Part {
    /// Ascending; a profile's place is its rank.
    pub(crate) keys: Vec<Key>,
    words: Inverted,
    grams: Grams,
    common: Prepared,
    tiers: Tiers,
}

/// The ranks that a query finds, by tier, each rank in one of them.
pub(crate) struct Found {
    pub(crate) tiers: [RoaringBitmap; 3],
}

impl Part {
    pub(crate) fn of(draft: Draft) -> Self {
        let Draft { keys, words, heads } = draft;
        let profiles = keys.len();
        let (grams, mut common) = Grams::of(&words, profiles);
        common.extend(prepare_beginnings(&words, profiles));
        Self { tiers: Tiers::of(heads, profiles), keys, words, grams, common }
    }

    pub(crate) fn source<'a>(&'a self, hidden: &'a RoaringBitmap) -> Source<'a> {
        Source { keys: &self.keys, words: &self.words, heads: &self.tiers.heads, hidden }
    }

    pub(crate) fn footprint(&self) -> Footprint {
        Footprint {
            keys: bytes_of_list(&self.keys),
            word_texts: self.words.texts.footprint(),
            word_ranks: self.words.footprint_of_ranks(),
            grams: self.grams.footprint(),
            common: bytes_of_prepared(&self.common),
            heads: self.tiers.heads.texts.footprint() + self.tiers.heads.footprint_of_ranks(),
            beginnings: self.tiers.footprint_of_sets(),
        }
    }

    pub(crate) fn rank(&self, key: &Key) -> Option<u32> {
        self.keys.binary_search(key).ok().and_then(|place| u32::try_from(place).ok())
    }

    /// What is found of those that are not hidden.
    pub(crate) fn find(&self, query: &SearchQuery, hidden: &RoaringBitmap) -> Option<Found> {
        let mut all = self.with_all_words(query)?;
        if !hidden.is_empty() {
            *all.to_mut() -= hidden;
        }
        if all.is_empty() {
            return None;
        }
        let text = query.folded();
        let beginning = self.tiers.beginning(text, self.keys.len());
        if beginning.is_empty() {
            let rest = all.into_owned();
            return Some(Found { tiers: [RoaringBitmap::new(), RoaringBitmap::new(), rest] });
        }
        let exact = self.tiers.equal(text, self.keys.len()) - hidden;
        let prefix = (&*beginning - hidden) - &exact;
        let rest = &*all - &*beginning;
        Some(Found { tiers: [exact, prefix, rest] })
    }

    /// Sets that are there come first, the smallest of all; then what is quickly united. Where nothing is left nobody
    /// looks further, and where little is left, the dear words are looked for in that alone.
    fn with_all_words(&self, query: &SearchQuery) -> Option<Cow<'_, RoaringBitmap>> {
        let mut words: Vec<&str> = query.words().collect();
        words.sort_unstable();
        words.dedup();
        let mut known = Vec::new();
        words.retain(|word| self.common.get(*word).map(|set| known.push(Arc::as_ref(set))).is_none());
        known.sort_by_cached_key(|set| set.len());

        let mut all: Option<Cow<'_, RoaringBitmap>> = None;
        for set in known {
            all = Some(both(all, Cow::Borrowed(set))?);
        }

        words.sort_by_cached_key(|word| self.cost(word));
        let mut words = words.into_iter();
        while !all.as_deref().is_some_and(|all| self.is_little(all))
            && let Some(word) = words.next()
        {
            all = Some(both(all, Cow::Owned(self.with_word(word)))?);
        }
        match all {
            Some(all) if words.len() > 0 => self.among(&all, words).map(Cow::Owned),
            all => all,
        }
    }

    fn is_little(&self, set: &RoaringBitmap) -> bool {
        Left::pays(set, self.keys.len())
    }

    /// Those of a few that have all these words as well.
    fn among<'a>(&self, few: &RoaringBitmap, words: impl Iterator<Item = &'a str>) -> Option<RoaringBitmap> {
        let mut left = Left::of(few, self.keys.len());
        for word in words {
            if SearchQuery::is_short(word) {
                left.keep(&self.words, self.words.texts.beginning_with(word), |_| true);
            } else {
                let finder = Finder::new(word);
                let is_asked = |number| finder.find(self.words.texts.get(number).as_bytes()).is_some();
                left.keep(&self.words, self.grams.candidates(word).into_iter(), is_asked);
            }
            if left.is_empty() {
                return None;
            }
        }
        Some(left.into_set())
    }

    /// About what uniting the profiles of a word takes at the most, in nanoseconds.
    fn cost(&self, word: &str) -> u64 {
        if SearchQuery::is_short(word) {
            self.words.texts.beginning_with(word).len() as u64 * COST_OF_TEXT
        } else {
            self.grams.cost(word)
        }
    }

    fn with_word(&self, word: &str) -> RoaringBitmap {
        let profiles = self.keys.len();
        if SearchQuery::is_short(word) {
            unite(&self.words, self.words.texts.beginning_with(word), profiles)
        } else {
            unite(&self.words, self.grams.words_with(word, &self.words).into_iter(), profiles)
        }
    }
}

/// What two sets have in common, if anything.
fn both<'a>(
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
