//! Making the raw form of a part: out of entries, or one out of several.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashMap};

use latchkey_domain::search::SearchText;
use roaring::RoaringBitmap;

use crate::inverted::Inverted;
use crate::key::{Entry, Key};

/// No rank: the profile is left out.
const NONE: u32 = u32::MAX;

/// What a part is made of.
#[derive(Default)]
pub(crate) struct Draft {
    /// The profiles, ascending; a profile's place is its rank.
    pub(crate) keys: Vec<Key>,
    /// The words of all fields.
    pub(crate) words: Inverted,
    /// The whole names and usernames.
    pub(crate) heads: Inverted,
}

/// Something to be merged: profiles, their texts, and those of them that are left out.
pub(crate) struct Source<'a> {
    pub(crate) keys: &'a [Key],
    pub(crate) words: &'a Inverted,
    pub(crate) heads: &'a Inverted,
    pub(crate) hidden: &'a RoaringBitmap,
}

impl Draft {
    /// Of entries in any order, each profile once.
    pub(crate) fn of<'a>(mut entries: Vec<&'a Entry>) -> Self {
        entries.sort_unstable_by_key(|entry| entry.key);
        let mut words = Collected::<'a>::default();
        let mut heads = Collected::<'a>::default();
        for (rank, entry) in (0..).zip(&entries) {
            for word in words_of(&entry.text) {
                words.add(word, rank);
            }
            for head in heads_of(&entry.text) {
                heads.add(head, rank);
            }
        }
        Self {
            keys: entries.iter().map(|entry| entry.key).collect(),
            words: words.sorted(),
            heads: heads.sorted(),
        }
    }

    /// All profiles of the sources that are not left out. No profile may be in two of them otherwise.
    pub(crate) fn merged(sources: &[Source<'_>]) -> Self {
        let keys: Vec<_> = sources.iter().map(|source| (source.keys, source.hidden)).collect();
        let (keys, places) = merge_keys(&keys);
        let words: Vec<_> = sources.iter().map(|source| source.words).collect();
        let heads: Vec<_> = sources.iter().map(|source| source.heads).collect();
        Self { keys, words: merge(&words, &places), heads: merge(&heads, &places) }
    }

    /// The same of drafts, each of which is given up as soon as it can be.
    pub(crate) fn joined(drafts: Vec<Self>) -> Self {
        let nobody = RoaringBitmap::new();
        let keys: Vec<_> = drafts.iter().map(|draft| (draft.keys.as_slice(), &nobody)).collect();
        let (keys, places) = merge_keys(&keys);
        let (words, heads): (Vec<_>, Vec<_>) =
            drafts.into_iter().map(|draft| (draft.words, draft.heads)).unzip();
        let join = |parts: Vec<Inverted>| merge(&parts.iter().collect::<Vec<_>>(), &places);
        Self { keys, heads: join(heads), words: join(words) }
    }
}

fn words_of(text: &SearchText) -> impl Iterator<Item = &str> {
    let fields = [text.name.as_str(), text.username.as_str(), text.bio.as_str()];
    fields.into_iter().flat_map(|field| field.split(' ')).filter(|word| !word.is_empty())
}

fn heads_of(text: &SearchText) -> impl Iterator<Item = &str> {
    [text.name.as_str(), text.username.as_str()].into_iter().filter(|head| !head.is_empty())
}

/// Texts as they come in, with the ranks in ascending order.
#[derive(Default)]
struct Collected<'a> {
    numbers: HashMap<&'a str, usize>,
    counts: Vec<(usize, u32)>,
    pairs: Vec<(u32, u32)>,
}

impl<'a> Collected<'a> {
    fn add(&mut self, text: &'a str, rank: u32) {
        let next = self.counts.len();
        let number = *self.numbers.entry(text).or_insert(next);
        if number == next {
            self.counts.push((0, NONE));
        }
        let (count, last) = &mut self.counts[number];
        if *last != rank {
            *last = rank;
            *count += 1;
            // There are fewer texts than ranks times the words of a profile; beyond 2³² memory ends first.
            self.pairs.push((u32::try_from(number).unwrap_or(NONE), rank));
        }
    }

    fn sorted(self) -> Inverted {
        let mut starts = Vec::with_capacity(self.counts.len());
        let mut total = 0;
        for (count, _) in &self.counts {
            starts.push(total);
            total += count;
        }
        let mut ranks = vec![0; total];
        let mut next = starts.clone();
        for (number, rank) in self.pairs {
            let place = &mut next[number as usize];
            ranks[*place] = rank;
            *place += 1;
        }
        let mut texts: Vec<_> = self.numbers.into_iter().collect();
        texts.sort_unstable();
        let bytes = texts.iter().map(|(text, _)| text.len()).sum();
        let mut inverted = Inverted::with_capacity(bytes, total);
        for (text, number) in texts {
            inverted.push(text, &ranks[starts[number]..next[number]]);
        }
        inverted.shrink();
        inverted
    }
}

/// The keys of all in one order, and for each source the new rank of each of its ranks.
fn merge_keys(sources: &[(&[Key], &RoaringBitmap)]) -> (Vec<Key>, Vec<Vec<u32>>) {
    let mut all = Vec::with_capacity(sources.iter().map(|(keys, _)| keys.len()).sum());
    let mut places = Vec::with_capacity(sources.len());
    for (number, (keys, hidden)) in sources.iter().enumerate() {
        let kept = (0..).zip(*keys).filter(|(rank, _)| !hidden.contains(*rank));
        all.extend(kept.map(|(rank, key)| (*key, number, rank)));
        places.push(vec![NONE; keys.len()]);
    }
    all.sort(); // it is made of sorted runs, which this finds
    let mut keys = Vec::with_capacity(all.len());
    for (rank, (key, source, old)) in (0..).zip(all) {
        places[source][old as usize] = rank;
        keys.push(key);
    }
    (keys, places)
}

/// The next text of a source.
type Head<'a> = Reverse<(&'a str, usize, usize)>;

fn merge(sources: &[&Inverted], places: &[Vec<u32>]) -> Inverted {
    let bytes = sources.iter().map(|source| source.texts.bytes()).sum();
    let ranks = sources.iter().map(|source| source.plain_ranks()).sum();
    let mut merged = Inverted::with_capacity(bytes, ranks);
    let mut next: BinaryHeap<Head<'_>> = BinaryHeap::new();
    for (source, inverted) in sources.iter().enumerate() {
        if inverted.texts.len() > 0 {
            next.push(Reverse((inverted.texts.get(0), source, 0)));
        }
    }
    let mut ranks = Vec::new();
    while let Some(Reverse((text, ..))) = next.peek().copied() {
        ranks.clear();
        while let Some(mut top) = next.peek_mut() {
            let Reverse((other, source, number)) = *top;
            if other != text {
                break;
            }
            let place = &places[source];
            sources[source].ranks(number).for_each(|rank| {
                if place[rank as usize] != NONE {
                    ranks.push(place[rank as usize]);
                }
            });
            if number + 1 < sources[source].texts.len() {
                *top = Reverse((sources[source].texts.get(number + 1), source, number + 1));
            } else {
                PeekMut::pop(top);
            }
        }
        if !ranks.is_empty() {
            ranks.sort_unstable();
            merged.push(text, &ranks);
        }
    }
    merged.shrink();
    merged
}
