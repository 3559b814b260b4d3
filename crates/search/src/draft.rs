//! Making the raw form of a part: out of entries, or one out of several.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashMap};

use latchkey_domain::search::SearchText;
use roaring::RoaringBitmap;

use crate::inverted::{Inverted, Walk};
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
    pub(crate) fn of(mut entries: Vec<&Entry>) -> Self {
        let (words, heads) = collect(&mut entries);
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
        let merge = |parts: Vec<&Inverted>| {
            let bytes = parts.iter().map(|part| part.texts.bytes()).sum();
            let ranks = parts.iter().map(|part| part.plain_ranks()).sum();
            let walks = parts.into_iter().map(Inverted::walk).collect();
            merge(walks, &places, Inverted::with_capacity(bytes, ranks))
        };
        let words = merge(sources.iter().map(|source| source.words).collect());
        Self { words, heads: merge(sources.iter().map(|source| source.heads).collect()), keys }
    }
}

/// Sorts the entries, which are in any order, each profile once; answers their words, and their names and usernames.
pub(crate) fn collect<'a>(entries: &mut [&'a Entry]) -> (Collected<'a>, Collected<'a>) {
    entries.sort_unstable_by_key(|entry| entry.key);
    let (mut words, mut heads) = (Collected::default(), Collected::default());
    for (rank, entry) in (0..).zip(&*entries) {
        for word in words_of(&entry.text) {
            words.add(word, rank);
        }
        for head in heads_of(&entry.text) {
            heads.add(head, rank);
        }
    }
    (words, heads)
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
pub(crate) struct Collected<'a> {
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
        let bytes = self.numbers.keys().map(|text| text.len()).sum();
        let mut inverted = Inverted::with_capacity(bytes, self.pairs.len());
        self.for_each_sorted(|text, ranks| inverted.push(text, ranks));
        inverted.shrink();
        inverted
    }

    /// Shows the texts in their order.
    pub(crate) fn for_each_sorted(self, mut see: impl FnMut(&str, &[u32])) {
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
        for (text, number) in texts {
            see(text, &ranks[starts[number]..next[number]]);
        }
    }
}

/// The keys of all in one order, and for each source the new rank of each of its ranks.
pub(crate) fn merge_keys(sources: &[(&[Key], &RoaringBitmap)]) -> (Vec<Key>, Vec<Vec<u32>>) {
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
type Head<'a> = Reverse<(&'a str, usize)>;

/// The texts of all sources with the new ranks, in what is made for them.
pub(crate) fn merge<'a>(
    mut sources: Vec<impl Walk<'a>>,
    places: &[Vec<u32>],
    mut merged: Inverted,
) -> Inverted {
    let heads = sources.iter().enumerate();
    let mut next: BinaryHeap<Head<'_>> =
        heads.filter_map(|(number, source)| Some(Reverse((source.text()?, number)))).collect();
    let mut ranks = Vec::new();
    while let Some(Reverse((text, _))) = next.peek().copied() {
        ranks.clear();
        while let Some(mut top) = next.peek_mut() {
            let Reverse((other, number)) = *top;
            if other != text {
                break;
            }
            let (source, place) = (&mut sources[number], &places[number]);
            source.for_each_rank(|rank| {
                if place[rank as usize] != NONE {
                    ranks.push(place[rank as usize]);
                }
            });
            source.advance();
            match source.text() {
                Some(following) => *top = Reverse((following, number)),
                None => drop(PeekMut::pop(top)),
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
