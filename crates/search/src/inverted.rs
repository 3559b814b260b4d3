//! Sorted texts, each with the ranks of the profiles that have it.

use std::collections::HashMap;

use roaring::RoaringBitmap;

use crate::ends::Ends;
use crate::footprint::{bytes_of_list, bytes_of_set};
use crate::strings::Strings;

/// Ranks of one text up to which they are kept plainly, not as a set: most texts are had by very few profiles.
const MOST_PLAIN: usize = if cfg!(test) { 4 } else { 1_024 };

/// Texts and their ranks.
#[derive(Default)]
pub(crate) struct Inverted {
    pub(crate) texts: Strings,
    /// The plain ranks of each text.
    ends: Ends,
    plain: Vec<u32>,
    large: HashMap<usize, RoaringBitmap>,
}

/// The ranks of one text, ascending.
#[derive(Clone, Copy)]
pub(crate) enum Ranks<'a> {
    Plain(&'a [u32]),
    Large(&'a RoaringBitmap),
}

/// Going through texts in their order.
pub(crate) trait Walk<'a> {
    /// The text where it stands; nothing at the end.
    fn text(&self) -> Option<&'a str>;
    /// The ranks of this text, ascending.
    fn for_each_rank(&self, see: impl FnMut(u32));
    /// Goes to the next text.
    fn advance(&mut self);
}

/// A text and those after it.
pub(crate) struct Onward<'a> {
    inverted: &'a Inverted,
    number: usize,
}

impl<'a> Walk<'a> for Onward<'a> {
    fn text(&self) -> Option<&'a str> {
        (self.number < self.inverted.texts.len()).then(|| self.inverted.texts.get(self.number))
    }

    fn for_each_rank(&self, see: impl FnMut(u32)) {
        self.inverted.ranks(self.number).for_each(see);
    }

    fn advance(&mut self) {
        self.number += 1;
    }
}

impl Ranks<'_> {
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Plain(ranks) => ranks.len(),
            Self::Large(ranks) => usize::try_from(ranks.len()).unwrap_or(usize::MAX),
        }
    }

    pub(crate) fn for_each(self, mut see: impl FnMut(u32)) {
        match self {
            Self::Plain(ranks) => ranks.iter().for_each(|&rank| see(rank)),
            Self::Large(ranks) => ranks.iter().for_each(see),
        }
    }
}

impl Inverted {
    /// Room for so many bytes of texts and so many ranks.
    pub(crate) fn with_capacity(bytes: usize, ranks: usize) -> Self {
        Self { texts: Strings::with_capacity(bytes), plain: Vec::with_capacity(ranks), ..Self::default() }
    }

    /// How many ranks are kept plainly.
    pub(crate) const fn plain_ranks(&self) -> usize {
        self.plain.len()
    }

    /// Adds a text that is greater than all before, with its ranks, ascending and each once.
    pub(crate) fn push(&mut self, text: &str, ranks: &[u32]) {
        if ranks.len() > MOST_PLAIN {
            // They ascend, so nothing is lost where the library would stop.
            let set = RoaringBitmap::from_sorted_iter(ranks.iter().copied()).unwrap_or_default();
            self.large.insert(self.texts.len(), set);
        } else {
            self.plain.extend_from_slice(ranks);
        }
        self.texts.push(text);
        self.ends.push(self.plain.len());
    }

    /// Onward the first text on.
    pub(crate) const fn walk(&self) -> Onward<'_> {
        Onward { inverted: self, number: 0 }
    }

    pub(crate) fn ranks(&self, number: usize) -> Ranks<'_> {
        let plain = &self.plain[self.ends.range(number)];
        if plain.is_empty()
            && let Some(set) = self.large.get(&number)
        {
            return Ranks::Large(set);
        }
        Ranks::Plain(plain)
    }

    /// What the ranks take in memory, without the texts.
    pub(crate) fn footprint_of_ranks(&self) -> usize {
        let sets: usize = self.large.values().map(bytes_of_set).sum();
        let slots = self.large.capacity() * (size_of::<usize>() + 1);
        self.ends.bytes() + bytes_of_list(&self.plain) + slots + sets
    }

    pub(crate) fn shrink(&mut self) {
        self.texts.shrink();
        self.ends.shrink();
        self.plain.shrink_to_fit();
    }
}
