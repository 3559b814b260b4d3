//! Substring search in the vocabulary by a trigram index, which lists the words that contain each sequence of three
//! characters. For substrings that many words contain, the sets of profiles are precomputed, so that the cost of a
//! query does not grow with their number.

use std::collections::HashMap;

use memchr::memmem::Finder;

use crate::inverted::Inverted;
use crate::memory_use::bytes_of_list;
use crate::unions::{Precomputed, cost};

mod common;

pub(crate) use common::precompute_prefixes;

const GRAM: u32 = 3;
/// Number of bits of a Unicode scalar value.
const SCALAR_BITS: u32 = 21;
/// Maximum number of posting lists that are intersected with the shortest one.
const NARROWING: usize = 4;
/// Number of candidate words up to which comparing them with the text is quicker than reading another posting list.
const FEW: usize = if cfg!(test) { 2 } else { 64 };

/// Ratio of a posting list's length to the number of candidate words from which comparing these words with the text
/// is quicker than reading the list.
const LONG: usize = if cfg!(test) { 2 } else { 16 };

/// A trigram as one number: three Unicode scalar values of 21 bits each.
type Gram = u64;

/// Trigram index: for each trigram, the words that contain it.
pub(crate) struct TrigramIndex {
    /// All trigrams of the vocabulary, ascending.
    known: Vec<Gram>,
    /// End of each trigram's posting list in `lists`.
    ends: Vec<usize>,
    /// Posting lists: ascending positions of words in the vocabulary, delta-encoded as varints with seven bits per
    /// byte. The highest bit marks the last byte of a number.
    lists: Vec<u8>,
    /// Estimated time to unite the postings of the words in each trigram's list, in nanoseconds.
    costs: Vec<u32>,
}

fn grams_of(word: &str) -> impl Iterator<Item = (usize, Gram)> {
    let mask = (1 << (GRAM * SCALAR_BITS)) - 1;
    let mut gram = 0;
    (1..).zip(word.char_indices()).filter_map(move |(count, (at, c))| {
        gram = (gram << SCALAR_BITS | u64::from(u32::from(c))) & mask;
        (count >= GRAM).then_some((at + c.len_utf8(), gram))
    })
}

impl TrigramIndex {
    /// Builds the trigram index of all words, and the precomputed sets of common substrings.
    pub(crate) fn of(words: &Inverted, profiles: usize) -> (Self, Precomputed) {
        let costs: Vec<u64> =
            (0..words.terms.len()).map(|word| cost(words.postings(word), profiles)).collect();
        let mut builder = Builder { has_table: words.terms.len() >= TABLE_FROM, ..Builder::default() };
        for (word, cost) in costs.iter().enumerate() {
            for (_, gram) in grams_of(words.terms.get(word)) {
                builder.count(gram, word, *cost);
            }
        }
        let (grams, weights) = builder.write(words);
        let precomputed = common::precompute(words, profiles, &costs, &grams, &weights);
        (grams, precomputed)
    }

    /// Returns an estimated upper bound for the time to unite the postings of all words that contain a text, in
    /// nanoseconds. The text has at least three characters.
    pub(crate) fn cost(&self, text: &str) -> u64 {
        let costs =
            grams_of(text).map(|(_, gram)| self.known.binary_search(&gram).map(|number| self.costs[number]));
        u64::from(costs.map(Result::unwrap_or_default).min().unwrap_or_default())
    }

    /// Returns the words that contain a text of at least three characters, ascending.
    pub(crate) fn words_containing(&self, text: &str, words: &Inverted) -> Vec<usize> {
        let mut found = self.candidates(text);
        if text.chars().nth(GRAM as usize).is_some() {
            let finder = Finder::new(text);
            found.retain(|&word| finder.find(words.terms.get(word).as_bytes()).is_some());
        }
        found
    }

    /// Returns a superset of the words that contain a text of at least three characters, ascending.
    pub(crate) fn candidates(&self, text: &str) -> Vec<usize> {
        let Some(mut lists) = self.lists_of(text) else { return Vec::new() };
        lists.sort_unstable_by_key(|list| (list.len(), list.as_ptr()));
        lists.dedup_by_key(|list| list.as_ptr());
        let Some((shortest, longer)) = lists.split_first() else { return Vec::new() };

        let mut found: Vec<usize> = PostingDecoder::new(shortest).collect();
        for list in longer.iter().take(NARROWING) {
            if found.len() <= FEW || list.len() / LONG > found.len() {
                break;
            }
            narrow(&mut found, list);
        }
        found
    }

    /// Returns the posting lists of a text's trigrams, or `None` if one of the trigrams occurs in no word.
    fn lists_of(&self, text: &str) -> Option<Vec<&[u8]>> {
        grams_of(text).map(|(_, gram)| Some(self.list(self.known.binary_search(&gram).ok()?))).collect()
    }

    pub(crate) fn memory_use(&self) -> usize {
        bytes_of_list(&self.known)
            + bytes_of_list(&self.ends)
            + bytes_of_list(&self.lists)
            + bytes_of_list(&self.costs)
    }

    fn list(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.lists[start..self.ends[number]]
    }
}

/// Removes the words that are not in a posting list.
fn narrow(found: &mut Vec<usize>, list: &[u8]) {
    let mut other = PostingDecoder::new(list);
    let mut next = other.next();
    found.retain(|&word| {
        while next.is_some_and(|other| other < word) {
            next = other.next();
        }
        next == Some(word)
    });
}

/// Iterator that decodes the varints of a posting list into positions of words.
struct PostingDecoder<'a> {
    bytes: std::slice::Iter<'a, u8>,
    last: usize,
}

impl<'a> PostingDecoder<'a> {
    fn new(list: &'a [u8]) -> Self {
        Self { bytes: list.iter(), last: 0 }
    }
}

impl Iterator for PostingDecoder<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let (mut difference, mut shift) = (0, 0);
        loop {
            let byte = *self.bytes.next()?;
            difference |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 != 0 {
                self.last += difference;
                return Some(self.last);
            }
            shift += 7;
        }
    }
}

fn varint_len(difference: usize) -> usize {
    (usize::BITS - (difference | 1).leading_zeros()).div_ceil(7) as usize
}

/// Size of a trigram's posting list, and cost of uniting its words' postings, measured before the list is
/// written.
struct GramStats {
    gram: Gram,
    /// Position of the last word counted for this trigram.
    last: usize,
    bytes: usize,
    cost: u64,
}

/// Builder of the trigram index in two passes over all words: the first measures each posting list, the second writes
/// it. Most trigrams are ASCII. If there are many words, ASCII trigrams are found in a direct-mapped table; for few
/// words, initialising the table would take longer than hashing.
#[derive(Default)]
struct Builder {
    has_table: bool,
    ascii: Vec<u32>,
    others: HashMap<Gram, u32>,
    counted: Vec<GramStats>,
}

const ASCII_BITS: u32 = 7;
const UNSEEN: u32 = u32::MAX;
/// Number of words from which the direct-mapped table is quicker than hashing.
const TABLE_FROM: usize = if cfg!(test) { 100 } else { 100_000 };

/// Returns the position of a trigram in the direct-mapped table, or `None` if a character is not ASCII.
fn ascii_place(gram: Gram) -> Option<usize> {
    let char_at = |number: u32| gram >> (number * SCALAR_BITS) & ((1 << SCALAR_BITS) - 1);
    let (a, b, c) = (char_at(2), char_at(1), char_at(0));
    let place = (a << ASCII_BITS | b) << ASCII_BITS | c;
    (a | b | c < 128).then(|| usize::try_from(place).unwrap_or_default())
}

impl Builder {
    fn slot(&mut self, gram: Gram) -> usize {
        let next = u32::try_from(self.counted.len()).unwrap_or(UNSEEN);
        let slot = match ascii_place(gram).filter(|_| self.has_table) {
            Some(place) => {
                if self.ascii.is_empty() {
                    self.ascii = vec![UNSEEN; 1 << (GRAM * ASCII_BITS)];
                }
                &mut self.ascii[place]
            }
            None => self.others.entry(gram).or_insert(UNSEEN),
        };
        if *slot == UNSEEN {
            *slot = next;
            self.counted.push(GramStats { gram, last: usize::MAX, bytes: 0, cost: 0 });
        }
        *slot as usize
    }

    fn count(&mut self, gram: Gram, word: usize, cost: u64) {
        let slot = self.slot(gram);
        let counted = &mut self.counted[slot];
        if counted.last == word {
            return;
        }
        let before = if counted.last == usize::MAX { 0 } else { counted.last };
        counted.bytes += varint_len(word - before);
        counted.cost += cost;
        counted.last = word;
    }

    /// Runs the second pass. Returns the index, and the estimated cost of uniting the postings of each trigram's
    /// words, in nanoseconds.
    fn write(mut self, words: &Inverted) -> (TrigramIndex, Vec<u64>) {
        let mut order: Vec<usize> = (0..self.counted.len()).collect();
        order.sort_unstable_by_key(|&slot| self.counted[slot].gram);
        let mut places = vec![(0, 0); self.counted.len()];
        let (mut known, mut ends, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = 0;
        for slot in order {
            let counted = &self.counted[slot];
            places[slot] = (end, usize::MAX);
            end += counted.bytes;
            known.push(counted.gram);
            ends.push(end);
            weights.push(counted.cost);
        }
        let mut lists = vec![0; end];
        for word in 0..words.terms.len() {
            for (_, gram) in grams_of(words.terms.get(word)) {
                let slot = self.slot(gram);
                let (place, last) = &mut places[slot];
                if *last == word {
                    continue;
                }
                let before = if *last == usize::MAX { 0 } else { *last };
                encode_varint(word - before, &mut lists, place);
                *last = word;
            }
        }
        let costs = weights.iter().map(|&weight| u32::try_from(weight).unwrap_or(u32::MAX)).collect();
        (TrigramIndex { known, ends, lists, costs }, weights)
    }
}

fn encode_varint(mut difference: usize, lists: &mut [u8], place: &mut usize) {
    for _ in 1..varint_len(difference) {
        lists[*place] = u8::try_from(difference & 0x7f).unwrap_or_default();
        difference >>= 7;
        *place += 1;
    }
    lists[*place] = u8::try_from(difference & 0x7f).unwrap_or_default() | 0x80;
    *place += 1;
}
