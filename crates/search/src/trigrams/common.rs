//! Precomputed sets of profiles for common substrings, which would be costly to unite at every query. A word that
//! contains a text also contains its prefixes. Common substrings are therefore found by extending shorter common ones,
//! one character at a time.

use std::collections::BinaryHeap;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::{GRAM, Gram, PostingDecoder, SCALAR_BITS, TrigramIndex, grams_of};
use crate::inverted::Inverted;
use crate::unions::{Precomputed, cost, unite};

/// Estimated time to unite the postings of a text of at least three characters, in nanoseconds, above which the union
/// is precomputed.
const COSTLY: u64 = if cfg!(test) { 300 } else { 700_000 };
/// Estimated time to unite the postings of a prefix of one or two characters, in nanoseconds, above which the union is
/// precomputed. A query may have many such words.
const COSTLY_PREFIX: u64 = if cfg!(test) { 300 } else { 100_000 };
/// Maximum length of a precomputed text, in characters. The sets of longer texts are united when a query needs them.
const LONGEST: usize = 64;

/// Memory budget of the precomputed sets: bytes per profile, and a fixed base. A typical index of a million profiles
/// needs less.
const BYTES_PER_PROFILE: usize = if cfg!(test) { 64 } else { 256 };
const BASE_BYTES: usize = if cfg!(test) { 2_048 } else { 8 << 20 };
/// Estimated overhead of an entry in the map of precomputed sets, in bytes.
const ENTRY_BYTES: usize = 128;
/// Maximum number of occurrences visited to extend a trigram, per word that contains the trigram. A word that contains
/// a text once stays within this budget; a word that repeats a text a thousand times has a thousand occurrences at
/// every length.
const OCCURRENCES_PER_WORD: usize = LONGEST;
/// Maximum number of occurrences visited for all trigrams together, per byte of the vocabulary.
const OCCURRENCES_PER_BYTE: usize = if cfg!(test) { 4 } else { 16 };

/// Occurrence of a text: position of the word in the vocabulary, and end of the text in the word, in bytes.
type Occurrence = (u32, u32);

/// Precomputes the sets of profiles for common substrings of at least three characters, the costliest first,
/// within limits on the memory and on the number of visited occurrences. A set that is not precomputed is
/// united when a query needs it, with the same result.
pub(super) fn precompute(
    words: &Inverted,
    profiles: usize,
    costs: &[u64],
    grams: &TrigramIndex,
    weights: &[u64],
) -> Precomputed {
    let mut costly: Vec<usize> = (0..weights.len()).filter(|&number| weights[number] > COSTLY).collect();
    costly.sort_by_key(|&number| std::cmp::Reverse(weights[number]));
    let bytes = BASE_BYTES + profiles * BYTES_PER_PROFILE;
    let occurrences = words.terms.bytes() * OCCURRENCES_PER_BYTE;
    let mut grower = Grower { words, profiles, costs, bytes, occurrences, precomputed: Precomputed::new() };
    for &number in &costly {
        grower.insert(text_of(grams.known[number]), || {
            Arc::new(unite(words, PostingDecoder::new(grams.list(number)), profiles))
        });
    }

    let mut weight_left: u64 = costly.iter().map(|&number| weights[number]).sum();
    for &number in &costly {
        let own = share(grower.bytes, weights[number], weight_left);
        weight_left -= weights[number];
        let rest = grower.bytes - own;
        grower.bytes = own;
        grower.grow(grams.known[number], grams.list(number), weights[number]);
        grower.bytes += rest;
    }
    grower.precomputed
}

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
    /// Remaining memory for precomputed sets, in bytes.
    bytes: usize,
    /// Remaining number of occurrences of substrings in words that may be visited.
    occurrences: usize,
    precomputed: Precomputed,
}

/// A precomputed text whose extensions by a character may be costly too. Candidates are ordered by weight, the
/// estimated cost in nanoseconds.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    weight: u64,
    text: String,
    chars: usize,
    holders: usize,
    /// Range (`start..end`) of the text's occurrences among those of its trigram.
    start: usize,
    end: usize,
}

impl Grower<'_> {
    /// Stores a set if it fits the memory budget. Returns `false` otherwise.
    fn insert(&mut self, text: String, set: impl FnOnce() -> Arc<RoaringBitmap>) -> bool {
        let known = text.len() + ENTRY_BYTES;
        if self.bytes < known {
            return false;
        }
        let set = set();
        let is_shared = Arc::strong_count(&set) > 1;
        let bytes = known + if is_shared { 0 } else { set.serialized_size() };
        let fits = bytes <= self.bytes;
        if fits {
            self.bytes -= bytes;
            self.precomputed.insert(text.into(), set);
        }
        fits
    }

    /// Precomputes the sets of profiles for costly substrings that begin with a trigram whose own set is
    /// precomputed, the costliest first.
    fn grow(&mut self, gram: Gram, list: &[u8], weight: u64) {
        let text = text_of(gram);
        if !self.precomputed.contains_key(text.as_str()) {
            return;
        }
        let most =
            PostingDecoder::new(list).count().saturating_mul(OCCURRENCES_PER_WORD).min(self.occurrences);
        let Some(mut occurrences) = self.occurrences(gram, list, most) else { return };
        let holders = count_words(&occurrences);
        let all = Candidate { weight, text, chars: GRAM as usize, holders, start: 0, end: occurrences.len() };
        let mut next = BinaryHeap::from([all]);
        let mut looked_at = 0;
        while let Some(candidate) = next.pop() {
            looked_at += candidate.end - candidate.start;
            let has_room = looked_at <= most;
            if !has_room
                || candidate.chars < LONGEST && !self.lengthen(&candidate, &mut occurrences, &mut next)
            {
                break;
            }
        }
        self.occurrences = self.occurrences.saturating_sub(looked_at);
    }

    /// Returns the occurrences of a trigram, ascending, or `None` if there are more than `most`.
    fn occurrences(&self, gram: Gram, list: &[u8], most: usize) -> Option<Vec<Occurrence>> {
        let mut occurrences = Vec::new();
        for word in PostingDecoder::new(list) {
            let number = u32::try_from(word).ok()?;
            for (end, _) in grams_of(self.words.terms.get(word)).filter(|(_, other)| *other == gram) {
                occurrences.push((number, u32::try_from(end).ok()?));
            }
            if occurrences.len() > most {
                return None;
            }
        }
        Some(occurrences)
    }

    /// Precomputes the sets of profiles for costly substrings that extend a text by one character. Returns
    /// `false` once the memory budget is used up.
    fn lengthen(
        &mut self,
        candidate: &Candidate,
        occurrences: &mut [Occurrence],
        next: &mut BinaryHeap<Candidate>,
    ) -> bool {
        let mut start = candidate.start;
        occurrences[candidate.start..candidate.end].sort_by_key(|&occurrence| self.next_char(occurrence));
        while start < candidate.end {
            let longer = self.next_char(occurrences[start]);
            let count = occurrences[start..candidate.end]
                .partition_point(|&occurrence| self.next_char(occurrence) <= longer);
            let group = &mut occurrences[start..start + count];
            let range = (start, start + count);
            start += count;
            let Some(longer) = longer else { continue };
            let weight: u64 = distinct(group).map(|word| self.costs[word]).sum();
            if weight <= COSTLY {
                continue;
            }
            let holders = count_words(group);
            let shorter = self
                .precomputed
                .get(candidate.text.as_str())
                .filter(|_| holders == candidate.holders)
                .cloned();
            let (words, profiles) = (self.words, self.profiles);
            let text = format!("{}{longer}", candidate.text);
            let set = || shorter.unwrap_or_else(|| Arc::new(unite(words, distinct(group), profiles)));
            if !self.insert(text.clone(), set) {
                return false;
            }
            let length = u32::try_from(longer.len_utf8()).unwrap_or_default();
            for (_, end) in group.iter_mut() {
                *end += length;
            }
            next.push(Candidate {
                weight,
                text,
                chars: candidate.chars + 1,
                holders,
                start: range.0,
                end: range.1,
            });
        }
        true
    }

    fn next_char(&self, (word, end): Occurrence) -> Option<char> {
        self.words.terms.get(word as usize)[end as usize..].chars().next()
    }
}

/// Returns the distinct words of adjacent occurrences, in their order.
fn distinct(occurrences: &[Occurrence]) -> impl Iterator<Item = usize> {
    let mut last = None;
    occurrences
        .iter()
        .filter_map(move |&(word, _)| (last.replace(word) != Some(word)).then_some(word as usize))
}

fn count_words(occurrences: &[Occurrence]) -> usize {
    distinct(occurrences).count()
}

/// Precomputes the sets of profiles for common prefixes of one and two characters, which have no trigram.
pub(crate) fn precompute_prefixes(words: &Inverted, profiles: usize) -> Precomputed {
    let mut precomputed = Precomputed::new();
    let mut start = 0;
    for chars in 1..=2 {
        while start < words.terms.len() {
            let text = words.terms.get(start);
            let Some(end) = text.char_indices().nth(chars - 1).map(|(at, c)| at + c.len_utf8()) else {
                start += 1;
                continue;
            };
            let range = start..words.terms.with_prefix(&text[..end]).end;
            let weight: u64 = range.clone().map(|word| cost(words.postings(word), profiles)).sum();
            if weight > COSTLY_PREFIX {
                let set = unite(words, range.clone(), profiles);
                precomputed.insert(text[..end].into(), Arc::new(set));
            }
            start = range.end;
        }
        start = 0;
    }
    precomputed
}
