//! Precomputed sets of common substrings, whose union would be costly at every query. A word that contains a
//! text contains its prefixes too: common substrings are found by extending common ones, one character at a
//! time.

use std::collections::BinaryHeap;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::{GRAM, Gram, PostingDecoder, SCALAR_BITS, TrigramIndex, grams_of};
use crate::inverted::Inverted;
use crate::unions::{Precomputed, cost, unite};

/// Cost in nanoseconds from which the set of a text of at least three characters is precomputed.
const COSTLY: u64 = if cfg!(test) { 300 } else { 700_000 };
/// The same for prefixes of one and two characters, of which a query has many.
const COSTLY_PREFIX: u64 = if cfg!(test) { 300 } else { 100_000 };
/// Longest precomputed text in characters. Longer ones are united at the query.
const LONGEST: usize = 64;

/// Memory budget of the sets: per profile, and a fixed base. An ordinary million profiles needs less.
const BYTES_PER_PROFILE: usize = if cfg!(test) { 64 } else { 256 };
const BASE_BYTES: usize = if cfg!(test) { 2_048 } else { 8 << 20 };
/// Overhead of a map entry.
const ENTRY_BYTES: usize = 128;
/// Budget of occurrences to visit in extending a trigram, per word that contains it. A word that repeats a
/// text a thousand times has a thousand occurrences at every length; a word with one stays within the budget.
const OCCURRENCES_PER_WORD: usize = LONGEST;
/// Budget of all trigrams together, per byte of the vocabulary.
const OCCURRENCES_PER_BYTE: usize = if cfg!(test) { 4 } else { 16 };

/// Occurrence of a text: word number and end offset in bytes.
type Occurrence = (u32, u32);

/// Precomputes the sets of common texts of at least three characters, the costliest first, within the
/// budgets. What does not fit is united at the query: correct, but slower.
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

/// Share of a budget in proportion to the weight.
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
    /// Memory budget left.
    bytes: usize,
    /// Budget of occurrences left.
    occurrences: usize,
    precomputed: Precomputed,
}

/// A precomputed text whose extensions may be costly, ordered by weight.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    weight: u64,
    text: String,
    chars: usize,
    holders: usize,
    /// Range of its occurrences.
    start: usize,
    end: usize,
}

impl Grower<'_> {
    /// Stores a set if it fits the budget. Returns `false` otherwise.
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

    /// Precomputes costly extensions of a precomputed trigram, the costliest first.
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

    /// Occurrences of a trigram, ascending; `None` if there are more than `most`.
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

    /// Precomputes the costly texts that are one character longer. Returns `false` once the budget is used
    /// up.
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

/// Distinct words of occurrences, in order.
fn distinct(occurrences: &[Occurrence]) -> impl Iterator<Item = usize> {
    let mut last = None;
    occurrences
        .iter()
        .filter_map(move |&(word, _)| (last.replace(word) != Some(word)).then_some(word as usize))
}

fn count_words(occurrences: &[Occurrence]) -> usize {
    distinct(occurrences).count()
}

/// Precomputes the sets of common prefixes of one and two characters.
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
