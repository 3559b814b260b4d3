//! Where each of many consecutive pieces ends, in half the memory of plain numbers.

use std::ops::Range;

use crate::footprint::bytes_of_list;

/// Pieces that count from one base.
const TOGETHER: usize = 1 << 12;

/// Ascending ends of pieces that lie one behind the other; each has a number, counted from 0.
#[derive(Default)]
pub(crate) struct Ends {
    bases: Vec<usize>,
    /// Counted from the base of the piece.
    ends: Vec<u32>,
}

impl Ends {
    pub(crate) const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds a piece that begins where the last one ends.
    ///
    /// Four thousand pieces are shorter than 4 GiB together: a text of a profile has a few thousand bytes, a list of
    /// ranks a few thousand entries.
    pub(crate) fn push(&mut self, end: usize) {
        if self.ends.len().is_multiple_of(TOGETHER) {
            self.bases.push(self.last());
        }
        let base = self.bases.last().copied().unwrap_or_default();
        self.ends.push(u32::try_from(end - base).unwrap_or(u32::MAX));
    }

    /// Where a piece lies.
    pub(crate) fn range(&self, number: usize) -> Range<usize> {
        let start = if number == 0 { 0 } else { self.end(number - 1) };
        start..self.end(number)
    }

    pub(crate) fn shrink(&mut self) {
        self.bases.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    pub(crate) fn bytes(&self) -> usize {
        bytes_of_list(&self.bases) + bytes_of_list(&self.ends)
    }

    fn end(&self, number: usize) -> usize {
        self.bases[number / TOGETHER] + self.ends[number] as usize
    }

    fn last(&self) -> usize {
        self.len().checked_sub(1).map_or(0, |last| self.end(last))
    }
}
