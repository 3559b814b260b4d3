//! What so many words hold that uniting their profiles at every query would take long. Whatever holds a longer text
//! holds the shorter one too, so the common texts are found by growing common ones, character by character.

use std::collections::BinaryHeap;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::{Decoded, GRAM, Gram, Grams, SCALAR_BITS, grams_of};
use crate::inverted::Inverted;
use crate::unions::{Prepared, cost, unite};

/// Nanoseconds that uniting may take at a query, for a text of three characters or more.
const DEAR: u64 = if cfg!(test) { 300 } else { 700_000 };
/// The same for one or two characters: a query has many such words.
const DEAR_WHEN_SHORT: u64 = if cfg!(test) { 300 } else { 100_000 };
/// The longest text in characters that is prepared. What many words share beyond that is looked up word by word.
const LONGEST: usize = 64;

/// Bytes that the sets may take: for each profile, and besides. An ordinary million of profiles needs less.
const BYTES_OF_PROFILE: usize = if cfg!(test) { 64 } else { 256 };
const BYTES_BESIDES: usize = if cfg!(test) { 2_048 } else { 8 << 20 };
/// About what keeping a set takes beside the set.
const BYTES_OF_ENTRY: usize = 128;
/// Places that may be looked at in growing a gram, for each word that holds it: a word that repeats one text a
/// thousand times has a thousand places, each of them at every length. One that stands once is never too many.
const PLACES_OF_WORD: usize = LONGEST;
/// The same for all grams together, for each byte of all words.
const PLACES_OF_BYTE: usize = if cfg!(test) { 4 } else { 16 };

/// A place where a text stands: in which word, and at which byte it ends.
type Place = (u32, u32);

/// The sets of the common texts of three characters or more, the dearest first. What does not fit is looked up word by
/// word: found as well, and more slowly.
pub(super) fn prepare(
    words: &Inverted,
    profiles: usize,
    costs: &[u64],
    grams: &Grams,
    weights: &[u64],
) -> Prepared {
    let mut dear: Vec<usize> = (0..weights.len()).filter(|&number| weights[number] > DEAR).collect();
    dear.sort_by_key(|&number| std::cmp::Reverse(weights[number]));
    let bytes = BYTES_BESIDES + profiles * BYTES_OF_PROFILE;
    let places = words.texts.bytes() * PLACES_OF_BYTE;
    let mut grower = Grower { words, profiles, costs, bytes, places, prepared: Prepared::new() };
    for &number in &dear {
        grower.insert(text_of(grams.known[number]), || {
            Arc::new(unite(words, Decoded::new(grams.list(number)), profiles))
        });
    }

    let mut weight_left: u64 = dear.iter().map(|&number| weights[number]).sum();
    for &number in &dear {
        let kept = share(grower.bytes, weights[number], weight_left);
        weight_left -= weights[number];
        let rest = grower.bytes - kept;
        grower.bytes = kept;
        grower.grow(grams.known[number], grams.list(number), weights[number]);
        grower.bytes += rest;
    }
    grower.prepared
}

/// Of what is left, as much as this weight is of the weight that is left.
fn share(of: usize, weight: u64, all: u64) -> usize {
    let share = of as u128 * u128::from(weight) / u128::from(all.max(1));
    usize::try_from(share).unwrap_or(of).min(of)
}

fn text_of(gram: Gram) -> String {
    let char_at = |number: u32| {
        let bits = gram >> (number * SCALAR_BITS) & ((1 << SCALAR_BITS) - 1);
        u32::try_from(bits).ok().and_then(char::from_u32)
    };
    [char_at(2), char_at(1), char_at(0)].into_iter().flatten().collect()
}

struct Grower<'a> {
    words: &'a Inverted,
    profiles: usize,
    costs: &'a [u64],
    /// Bytes that may still be taken.
    bytes: usize,
    /// Places that may still be looked at.
    places: usize,
    prepared: Prepared,
}

/// A text whose set is made, and which may have dear longer ones. The dearest is the greatest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Node {
    weight: u64,
    text: String,
    chars: usize,
    holders: usize,
    /// Where its places are.
    start: usize,
    end: usize,
}

impl Grower<'_> {
    /// Keeps a set if there is room for it.
    fn insert(&mut self, text: String, set: impl FnOnce() -> Arc<RoaringBitmap>) -> bool {
        let known = text.len() + BYTES_OF_ENTRY;
        if self.bytes < known {
            return false;
        }
        let set = set();
        let is_shared = Arc::strong_count(&set) > 1;
        let bytes = known + if is_shared { 0 } else { set.serialized_size() };
        let fits = bytes <= self.bytes;
        if fits {
            self.bytes -= bytes;
            self.prepared.insert(text.into(), set);
        }
        fits
    }

    /// Prepares the texts that begin with a gram whose set is made, the dearest first.
    fn grow(&mut self, gram: Gram, list: &[u8], weight: u64) {
        let text = text_of(gram);
        if !self.prepared.contains_key(text.as_str()) {
            return;
        }
        let most = Decoded::new(list).count().saturating_mul(PLACES_OF_WORD).min(self.places);
        let Some(mut places) = self.places(gram, list, most) else { return };
        let holders = count_words(&places);
        let all = Node { weight, text, chars: GRAM as usize, holders, start: 0, end: places.len() };
        let mut next = BinaryHeap::from([all]);
        let mut looked_at = 0;
        while let Some(node) = next.pop() {
            looked_at += node.end - node.start;
            let has_room = looked_at <= most;
            if !has_room || node.chars < LONGEST && !self.lengthen(&node, &mut places, &mut next) {
                break;
            }
        }
        self.places = self.places.saturating_sub(looked_at);
    }

    /// Where a gram stands, ascending; nothing where that is too often.
    fn places(&self, gram: Gram, list: &[u8], most: usize) -> Option<Vec<Place>> {
        let mut places = Vec::new();
        for word in Decoded::new(list) {
            let number = u32::try_from(word).ok()?;
            for (end, _) in grams_of(self.words.texts.get(word)).filter(|(_, other)| *other == gram) {
                places.push((number, u32::try_from(end).ok()?));
            }
            if places.len() > most {
                return None;
            }
        }
        Some(places)
    }

    /// Prepares the dear texts that are one character longer. Answers whether all of them had room.
    fn lengthen(&mut self, node: &Node, places: &mut [Place], next: &mut BinaryHeap<Node>) -> bool {
        let mut start = node.start;
        places[node.start..node.end].sort_by_key(|&place| self.next_char(place));
        while start < node.end {
            let longer = self.next_char(places[start]);
            let count = places[start..node.end].partition_point(|&place| self.next_char(place) <= longer);
            let group = &mut places[start..start + count];
            let range = (start, start + count);
            start += count;
            let Some(longer) = longer else { continue };
            let weight: u64 = distinct(group).map(|word| self.costs[word]).sum();
            if weight <= DEAR {
                continue;
            }
            let holders = count_words(group);
            let shorter = self.prepared.get(node.text.as_str()).filter(|_| holders == node.holders).cloned();
            let (words, profiles) = (self.words, self.profiles);
            let text = format!("{}{longer}", node.text);
            let set = || shorter.unwrap_or_else(|| Arc::new(unite(words, distinct(group), profiles)));
            if !self.insert(text.clone(), set) {
                return false;
            }
            let length = u32::try_from(longer.len_utf8()).unwrap_or_default();
            for (_, end) in group.iter_mut() {
                *end += length;
            }
            next.push(Node { weight, text, chars: node.chars + 1, holders, start: range.0, end: range.1 });
        }
        true
    }

    fn next_char(&self, (word, end): Place) -> Option<char> {
        self.words.texts.get(word as usize)[end as usize..].chars().next()
    }
}

/// The words of places in their order, each once.
fn distinct(places: &[Place]) -> impl Iterator<Item = usize> {
    let mut last = None;
    places.iter().filter_map(move |&(word, _)| (last.replace(word) != Some(word)).then_some(word as usize))
}

fn count_words(places: &[Place]) -> usize {
    distinct(places).count()
}

/// The sets of the common beginnings of one and two characters.
pub(super) fn prepare_beginnings(words: &Inverted, profiles: usize) -> Prepared {
    let mut prepared = Prepared::new();
    let mut start = 0;
    for chars in 1..=2 {
        while start < words.texts.len() {
            let text = words.texts.get(start);
            let Some(end) = text.char_indices().nth(chars - 1).map(|(at, c)| at + c.len_utf8()) else {
                start += 1;
                continue;
            };
            let range = start..words.texts.beginning_with(&text[..end]).end;
            let weight: u64 = range.clone().map(|word| cost(words.ranks(word), profiles)).sum();
            if weight > DEAR_WHEN_SHORT {
                let set = unite(words, range.clone(), profiles);
                prepared.insert(text[..end].into(), Arc::new(set));
            }
            start = range.end;
        }
        start = 0;
    }
    prepared
}
