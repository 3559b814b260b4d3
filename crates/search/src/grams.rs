//! Which words hold a text: a list of words for every three characters that stand together in one. What many words
//! hold has its set made in advance, so that the cost of a query does not grow with them.

use std::collections::HashMap;

use memchr::memmem::Finder;

use crate::footprint::bytes_of_list;
use crate::inverted::Inverted;
use crate::unions::{Prepared, cost};

mod common;

/// Characters of a gram.
const GRAM: u32 = 3;
/// Bits of a Unicode scalar value.
const SCALAR_BITS: u32 = 21;
/// Lists after the shortest one that narrow the candidates down.
const NARROWING: usize = 4;
/// So few candidates are looked at one by one.
const FEW: usize = if cfg!(test) { 2 } else { 64 };

/// Reading a list that is so many times as long as the candidates takes longer than looking at them one by one.
const LONG: usize = if cfg!(test) { 2 } else { 16 };

/// Three characters as one number.
type Gram = u64;

/// The words that hold each gram.
pub(crate) struct Grams {
    /// Ascending.
    known: Vec<Gram>,
    /// Where the list of each gram ends.
    ends: Vec<usize>,
    /// Lists of ascending word numbers: the difference to the one before, seven bits to a byte, the last one marked.
    lists: Vec<u8>,
    /// What uniting the words of each list takes, in nanoseconds.
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

impl Grams {
    /// Of all words, and the sets of what is common among them.
    pub(crate) fn of(words: &Inverted, profiles: usize) -> (Self, Prepared) {
        let costs: Vec<u64> = (0..words.texts.len()).map(|word| cost(words.ranks(word), profiles)).collect();
        let mut census = Census { has_table: words.texts.len() >= MANY, ..Census::default() };
        for (word, cost) in costs.iter().enumerate() {
            for (_, gram) in grams_of(words.texts.get(word)) {
                census.count(gram, word, *cost);
            }
        }
        let (grams, weights) = census.write(words);
        let prepared = common::prepare(words, profiles, &costs, &grams, &weights);
        (grams, prepared)
    }

    /// About what uniting the words that hold this text of three characters or more takes at the most, in nanoseconds.
    pub(crate) fn cost(&self, text: &str) -> u64 {
        let costs =
            grams_of(text).map(|(_, gram)| self.known.binary_search(&gram).map(|number| self.costs[number]));
        u64::from(costs.map(Result::unwrap_or_default).min().unwrap_or_default())
    }

    /// The words that hold this text of three characters or more, ascending.
    pub(crate) fn words_with(&self, text: &str, words: &Inverted) -> Vec<usize> {
        let mut found = self.candidates(text);
        if text.chars().nth(GRAM as usize).is_some() {
            let finder = Finder::new(text);
            found.retain(|&word| finder.find(words.texts.get(word).as_bytes()).is_some());
        }
        found
    }

    /// Words among which all are that hold this text of three characters or more, ascending.
    pub(crate) fn candidates(&self, text: &str) -> Vec<usize> {
        let Some(mut lists) = self.lists_of(text) else { return Vec::new() };
        lists.sort_unstable_by_key(|list| (list.len(), list.as_ptr()));
        lists.dedup_by_key(|list| list.as_ptr());
        let Some((shortest, longer)) = lists.split_first() else { return Vec::new() };

        let mut found: Vec<usize> = Decoded::new(shortest).collect();
        for list in longer.iter().take(NARROWING) {
            if found.len() <= FEW || list.len() / LONG > found.len() {
                break;
            }
            narrow(&mut found, list);
        }
        found
    }

    /// The list of each gram of a text; nothing where a gram is in no word.
    fn lists_of(&self, text: &str) -> Option<Vec<&[u8]>> {
        grams_of(text).map(|(_, gram)| Some(self.list(self.known.binary_search(&gram).ok()?))).collect()
    }

    /// What the lists take in memory.
    pub(crate) fn footprint(&self) -> usize {
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

/// Keeps those that are in the list as well.
fn narrow(found: &mut Vec<usize>, list: &[u8]) {
    let mut other = Decoded::new(list);
    let mut next = other.next();
    found.retain(|&word| {
        while next.is_some_and(|other| other < word) {
            next = other.next();
        }
        next == Some(word)
    });
}

/// Reads a list.
struct Decoded<'a> {
    bytes: std::slice::Iter<'a, u8>,
    last: usize,
}

impl<'a> Decoded<'a> {
    fn new(list: &'a [u8]) -> Self {
        Self { bytes: list.iter(), last: 0 }
    }
}

impl Iterator for Decoded<'_> {
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

/// How many bytes the difference takes.
fn bytes_of(difference: usize) -> usize {
    (usize::BITS - (difference | 1).leading_zeros()).div_ceil(7) as usize
}

/// What is counted of a gram before its list is written.
struct Counted {
    gram: Gram,
    /// The last word that had it.
    last: usize,
    bytes: usize,
    cost: u64,
}

/// The first of two passes over all words: how long each list will be. Grams of ASCII, by far the most, are found
/// in a table where there are many words; for few ones, clearing it would take longer than all else.
#[derive(Default)]
struct Census {
    has_table: bool,
    ascii: Vec<u32>,
    others: HashMap<Gram, u32>,
    counted: Vec<Counted>,
}

/// Bits of an ASCII character.
const ASCII_BITS: u32 = 7;
const UNSEEN: u32 = u32::MAX;
/// Words from which on the table is quicker.
const MANY: usize = if cfg!(test) { 100 } else { 100_000 };

/// The place in the table, if all three characters are ASCII.
fn ascii_place(gram: Gram) -> Option<usize> {
    let char_at = |number: u32| gram >> (number * SCALAR_BITS) & ((1 << SCALAR_BITS) - 1);
    let (a, b, c) = (char_at(2), char_at(1), char_at(0));
    let place = (a << ASCII_BITS | b) << ASCII_BITS | c;
    (a | b | c < 128).then(|| usize::try_from(place).unwrap_or_default())
}

impl Census {
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
            self.counted.push(Counted { gram, last: usize::MAX, bytes: 0, cost: 0 });
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
        counted.bytes += bytes_of(word - before);
        counted.cost += cost;
        counted.last = word;
    }

    /// The second pass; also answers what uniting each list costs.
    fn write(mut self, words: &Inverted) -> (Grams, Vec<u64>) {
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
        for word in 0..words.texts.len() {
            for (_, gram) in grams_of(words.texts.get(word)) {
                let slot = self.slot(gram);
                let (place, last) = &mut places[slot];
                if *last == word {
                    continue;
                }
                let before = if *last == usize::MAX { 0 } else { *last };
                encode(word - before, &mut lists, place);
                *last = word;
            }
        }
        let costs = weights.iter().map(|&weight| u32::try_from(weight).unwrap_or(u32::MAX)).collect();
        (Grams { known, ends, lists, costs }, weights)
    }
}

fn encode(mut difference: usize, lists: &mut [u8], place: &mut usize) {
    for _ in 1..bytes_of(difference) {
        lists[*place] = u8::try_from(difference & 0x7f).unwrap_or_default();
        difference >>= 7;
        *place += 1;
    }
    lists[*place] = u8::try_from(difference & 0x7f).unwrap_or_default() | 0x80;
    *place += 1;
}

/// The sets of the beginnings of one and two characters that are dear to unite.
pub(crate) fn prepare_beginnings(words: &Inverted, profiles: usize) -> Prepared {
    common::prepare_beginnings(words, profiles)
}
