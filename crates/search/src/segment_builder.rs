//! Builder for the terms and postings of a segment, from profiles or from the segments of a merge.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashMap};

use latchkey_domain::search::SearchText;
use roaring::RoaringBitmap;

use crate::inverted::{Inverted, TermCursor};
use crate::key::{Entry, Key};

/// Marker in place of a new doc id for a profile that a merge leaves out.
const NO_DOC: u32 = u32::MAX;

/// Keys, terms and postings of a segment, before its trigram index and precomputed sets are built.
#[derive(Default)]
pub(crate) struct SegmentBuilder {
    /// Keys of the profiles, ascending. The position of a key is the doc id of its profile.
    pub(crate) keys: Vec<Key>,
    /// Postings of the words of all fields.
    pub(crate) words: Inverted,
    /// Postings of whole names and usernames.
    pub(crate) exact_keys: Inverted,
}

/// Input of a merge: the content of a segment, and its hidden doc ids (deleted or superseded), which are left out.
pub(crate) struct Source<'a> {
    pub(crate) keys: &'a [Key],
    pub(crate) words: &'a Inverted,
    pub(crate) exact_keys: &'a Inverted,
    pub(crate) hidden: &'a RoaringBitmap,
}

impl SegmentBuilder {
    /// Builds a segment's content from entries in any order. The keys of the entries must be distinct.
    pub(crate) fn of(mut entries: Vec<&Entry>) -> Self {
        let (words, exact_keys) = collect(&mut entries);
        Self {
            keys: entries.iter().map(|entry| entry.key).collect(),
            words: words.sorted(),
            exact_keys: exact_keys.sorted(),
        }
    }

    /// Builds a segment's content from the sources' profiles, without hidden ones (deleted or superseded). The keys of
    /// the remaining profiles must be distinct.
    pub(crate) fn merged(sources: &[Source<'_>]) -> Self {
        let keys: Vec<_> = sources.iter().map(|source| (source.keys, source.hidden)).collect();
        let (keys, doc_maps) = merge_keys(&keys);
        let merge = |indexes: Vec<&Inverted>| {
            let bytes = indexes.iter().map(|index| index.terms.bytes()).sum();
            let docs = indexes.iter().map(|index| index.listed_postings()).sum();
            let cursors = indexes.into_iter().map(Inverted::cursor).collect();
            merge(cursors, &doc_maps, Inverted::with_capacity(bytes, docs))
        };
        let words = merge(sources.iter().map(|source| source.words).collect());
        Self { words, exact_keys: merge(sources.iter().map(|source| source.exact_keys).collect()), keys }
    }
}

/// Sorts entries, whose keys must be distinct, by key. Collects the postings of their words, and those of their names
/// and usernames.
pub(crate) fn collect<'a>(entries: &mut [&'a Entry]) -> (TermCollector<'a>, TermCollector<'a>) {
    entries.sort_unstable_by_key(|entry| entry.key);
    let (mut words, mut exact_keys) = (TermCollector::default(), TermCollector::default());
    for (doc, entry) in (0..).zip(&*entries) {
        for word in words_of(&entry.text) {
            words.add(word, doc);
        }
        for key in exact_keys_of(&entry.text) {
            exact_keys.add(key, doc);
        }
    }
    (words, exact_keys)
}

fn words_of(text: &SearchText) -> impl Iterator<Item = &str> {
    let fields = [text.name.as_str(), text.username.as_str(), text.bio.as_str()];
    fields.into_iter().flat_map(|field| field.split(' ')).filter(|word| !word.is_empty())
}

fn exact_keys_of(text: &SearchText) -> impl Iterator<Item = &str> {
    [text.name.as_str(), text.username.as_str()].into_iter().filter(|key| !key.is_empty())
}

/// Collector of terms and postings. Profiles arrive in ascending order of their doc ids, terms in any order.
#[derive(Default)]
pub(crate) struct TermCollector<'a> {
    numbers: HashMap<&'a str, usize>,
    counts: Vec<(usize, u32)>,
    pairs: Vec<(u32, u32)>,
}

impl<'a> TermCollector<'a> {
    fn add(&mut self, text: &'a str, doc: u32) {
        let next = self.counts.len();
        let number = *self.numbers.entry(text).or_insert(next);
        if number == next {
            self.counts.push((0, NO_DOC));
        }
        let (count, last) = &mut self.counts[number];
        if *last != doc {
            *last = doc;
            *count += 1;
            // The number fits: memory would be exhausted before there are 2³² terms.
            self.pairs.push((u32::try_from(number).unwrap_or(NO_DOC), doc));
        }
    }

    fn sorted(self) -> Inverted {
        let bytes = self.numbers.keys().map(|text| text.len()).sum();
        let mut inverted = Inverted::with_capacity(bytes, self.pairs.len());
        self.for_each_sorted(|text, docs| inverted.push(text, docs));
        inverted.shrink();
        inverted
    }

    /// Calls `see` with each term and its postings, in ascending order of the terms.
    pub(crate) fn for_each_sorted(self, mut see: impl FnMut(&str, &[u32])) {
        let mut starts = Vec::with_capacity(self.counts.len());
        let mut total = 0;
        for (count, _) in &self.counts {
            starts.push(total);
            total += count;
        }
        let mut docs = vec![0; total];
        let mut next = starts.clone();
        for (number, doc) in self.pairs {
            let place = &mut next[number as usize];
            docs[*place] = doc;
            *place += 1;
        }
        let mut terms: Vec<_> = self.numbers.into_iter().collect();
        terms.sort_unstable();
        for (text, number) in terms {
            see(text, &docs[starts[number]..next[number]]);
        }
    }
}

/// Merges the sorted keys of the profiles that are not hidden (deleted or superseded). Returns the merged keys, and for
/// each source a map from old to new doc id.
pub(crate) fn merge_keys(sources: &[(&[Key], &RoaringBitmap)]) -> (Vec<Key>, Vec<Vec<u32>>) {
    let mut all = Vec::with_capacity(sources.iter().map(|(keys, _)| keys.len()).sum());
    let mut doc_maps = Vec::with_capacity(sources.len());
    for (number, (keys, hidden)) in sources.iter().enumerate() {
        let kept = (0..).zip(*keys).filter(|(doc, _)| !hidden.contains(*doc));
        all.extend(kept.map(|(doc, key)| (*key, number, doc)));
        doc_maps.push(vec![NO_DOC; keys.len()]);
    }
    all.sort(); // the input consists of sorted runs, which this sort detects
    let mut keys = Vec::with_capacity(all.len());
    for (doc, (key, source, old)) in (0..).zip(all) {
        doc_maps[source][old as usize] = doc;
        keys.push(key);
    }
    (keys, doc_maps)
}

/// Entry of the merge heap: the next term of a source, and the position of the source.
type NextTerm<'a> = Reverse<(&'a str, usize)>;

/// Merges the sorted terms of all sources into one index (k-way merge). Postings get their new doc ids.
pub(crate) fn merge<'a>(
    mut sources: Vec<impl TermCursor<'a>>,
    doc_maps: &[Vec<u32>],
    mut merged: Inverted,
) -> Inverted {
    let cursors = sources.iter().enumerate();
    let mut next: BinaryHeap<NextTerm<'_>> =
        cursors.filter_map(|(number, source)| Some(Reverse((source.text()?, number)))).collect();
    let mut docs = Vec::new();
    while let Some(Reverse((text, _))) = next.peek().copied() {
        docs.clear();
        while let Some(mut top) = next.peek_mut() {
            let Reverse((other, number)) = *top;
            if other != text {
                break;
            }
            let (source, doc_map) = (&mut sources[number], &doc_maps[number]);
            source.for_each_doc(|doc| {
                if doc_map[doc as usize] != NO_DOC {
                    docs.push(doc_map[doc as usize]);
                }
            });
            source.advance();
            match source.text() {
                Some(following) => *top = Reverse((following, number)),
                None => drop(PeekMut::pop(top)),
            }
        }
        if !docs.is_empty() {
            docs.sort_unstable();
            merged.push(text, &docs);
        }
    }
    merged.shrink();
    merged
}
