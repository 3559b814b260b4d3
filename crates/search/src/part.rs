//! One unchanging part of the index, and what a query finds in it.

use std::borrow::Cow;
use std::sync::Arc;

use latchkey_domain::search::SearchQuery;
use roaring::RoaringBitmap;

use crate::draft::{Draft, Source};
use crate::grams::{Grams, prepare_beginnings};
use crate::inverted::Inverted;
use crate::key::Key;
use crate::tiers::Tiers;
use crate::unions::{Prepared, unite};

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

    fn with_all_words(&self, query: &SearchQuery) -> Option<Cow<'_, RoaringBitmap>> {
        let mut words: Vec<&str> = query.words().collect();
        // Long words are rare ones, and where nothing is left nobody looks further.
        words.sort_unstable_by_key(|word| (std::cmp::Reverse(word.len()), *word));
        words.dedup();
        let mut all: Option<Cow<'_, RoaringBitmap>> = None;
        for word in words {
            let with_word = self.with_word(word);
            let both = match all {
                None => with_word,
                Some(Cow::Owned(set)) => Cow::Owned(set & &*with_word),
                Some(Cow::Borrowed(set)) => Cow::Owned(set & &*with_word),
            };
            if both.is_empty() {
                return None;
            }
            all = Some(both);
        }
        all
    }

    fn with_word(&self, word: &str) -> Cow<'_, RoaringBitmap> {
        if let Some(set) = self.common.get(word) {
            return Cow::Borrowed(Arc::as_ref(set));
        }
        let profiles = self.keys.len();
        Cow::Owned(if SearchQuery::is_short(word) {
            unite(&self.words, self.words.texts.beginning_with(word), profiles)
        } else {
            unite(&self.words, self.grams.words_with(word, &self.words).into_iter(), profiles)
        })
    }
}
