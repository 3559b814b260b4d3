//! The inverted index: sorted terms, each with its postings (the doc ids of the profiles that contain it).

use std::collections::HashMap;

use roaring::RoaringBitmap;

use crate::memory_use::{bytes_of_list, bytes_of_set};
use crate::offsets::Offsets;
use crate::string_table::StringTable;

/// Maximum number of postings stored as a plain list; more are stored as a bitmap. Most terms have very few postings.
const LONGEST_LIST: usize = if cfg!(test) { 4 } else { 1_024 };

/// Inverted index: the profiles that contain a term, for each term of a segment.
#[derive(Default)]
pub(crate) struct Inverted {
    pub(crate) terms: StringTable,
    /// Range of each term's postings in `lists`; empty for terms whose postings are a bitmap.
    offsets: Offsets,
    lists: Vec<u32>,
    bitmaps: HashMap<usize, RoaringBitmap>,
}

/// Postings of a term: the doc ids of the profiles that contain it, ascending.
#[derive(Clone, Copy)]
pub(crate) enum Postings<'a> {
    List(&'a [u32]),
    Bitmap(&'a RoaringBitmap),
}

/// Cursor over terms and their postings, in ascending order of the terms.
pub(crate) trait TermCursor<'a> {
    /// Returns the current term, or `None` at the end.
    fn text(&self) -> Option<&'a str>;
    /// Calls `see` with each doc id of the current term's postings, ascending.
    fn for_each_doc(&self, see: impl FnMut(u32));
    fn advance(&mut self);
}

pub(crate) struct InvertedCursor<'a> {
    inverted: &'a Inverted,
    number: usize,
}

impl<'a> TermCursor<'a> for InvertedCursor<'a> {
    fn text(&self) -> Option<&'a str> {
        (self.number < self.inverted.terms.len()).then(|| self.inverted.terms.get(self.number))
    }

    fn for_each_doc(&self, see: impl FnMut(u32)) {
        self.inverted.postings(self.number).for_each(see);
    }

    fn advance(&mut self) {
        self.number += 1;
    }
}

impl Postings<'_> {
    pub(crate) fn len(self) -> usize {
        match self {
            Self::List(docs) => docs.len(),
            Self::Bitmap(docs) => usize::try_from(docs.len()).unwrap_or(usize::MAX),
        }
    }

    pub(crate) fn for_each(self, mut see: impl FnMut(u32)) {
        match self {
            Self::List(docs) => docs.iter().for_each(|&doc| see(doc)),
            Self::Bitmap(docs) => docs.iter().for_each(see),
        }
    }
}

impl Inverted {
    /// Creates an empty index. Memory is reserved for `bytes` bytes of terms and for `docs` postings in plain
    /// lists.
    pub(crate) fn with_capacity(bytes: usize, docs: usize) -> Self {
        Self { terms: StringTable::with_capacity(bytes), lists: Vec::with_capacity(docs), ..Self::default() }
    }

    /// Returns the number of postings that are stored in plain lists. Postings in bitmaps do not count.
    pub(crate) const fn listed_postings(&self) -> usize {
        self.lists.len()
    }

    /// Appends a term with its postings. The term must sort after all others; its postings must be distinct and
    /// ascending.
    pub(crate) fn push(&mut self, text: &str, docs: &[u32]) {
        if docs.len() > LONGEST_LIST {
            // The input is sorted, so this cannot fail.
            let set = RoaringBitmap::from_sorted_iter(docs.iter().copied()).unwrap_or_default();
            self.bitmaps.insert(self.terms.len(), set);
        } else {
            self.lists.extend_from_slice(docs);
        }
        self.terms.push(text);
        self.offsets.push(self.lists.len());
    }

    pub(crate) const fn cursor(&self) -> InvertedCursor<'_> {
        InvertedCursor { inverted: self, number: 0 }
    }

    pub(crate) fn postings(&self, number: usize) -> Postings<'_> {
        let list = &self.lists[self.offsets.range(number)];
        if list.is_empty()
            && let Some(set) = self.bitmaps.get(&number)
        {
            return Postings::Bitmap(set);
        }
        Postings::List(list)
    }

    /// Returns the memory use of the postings in bytes, without the terms.
    pub(crate) fn memory_use_of_postings(&self) -> usize {
        let sets: usize = self.bitmaps.values().map(bytes_of_set).sum();
        let slots = self.bitmaps.capacity() * (size_of::<usize>() + 1);
        self.offsets.bytes() + bytes_of_list(&self.lists) + slots + sets
    }

    pub(crate) fn shrink(&mut self) {
        self.terms.shrink();
        self.offsets.shrink();
        self.lists.shrink_to_fit();
    }
}
