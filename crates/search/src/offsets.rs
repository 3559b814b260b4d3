//! Compact storage for the end offsets of many consecutive slices: about four bytes per slice instead of eight.

use std::ops::Range;

use crate::memory_use::bytes_of_list;

/// Number of slices per block. The slices of a block share one 64-bit base.
const BLOCK: usize = 1 << 12;

/// End offsets of adjacent slices, in blocks. Each block has a 64-bit base; each slice has a 32-bit offset from it.
#[derive(Default)]
pub(crate) struct Offsets {
    bases: Vec<usize>,
    /// End of each slice, relative to the base of its block.
    offsets: Vec<u32>,
}

impl Offsets {
    pub(crate) const fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Appends a slice that begins at the end of the previous one and ends at `end`.
    ///
    /// The offset fits 32 bits, because a block of slices is shorter than 4 GiB: a term has a few thousand bytes, a
    /// posting list a few thousand entries.
    pub(crate) fn push(&mut self, end: usize) {
        if self.offsets.len().is_multiple_of(BLOCK) {
            self.bases.push(self.last());
        }
        let base = self.bases.last().copied().unwrap_or_default();
        self.offsets.push(u32::try_from(end - base).unwrap_or(u32::MAX));
    }

    pub(crate) fn range(&self, number: usize) -> Range<usize> {
        let start = if number == 0 { 0 } else { self.end(number - 1) };
        start..self.end(number)
    }

    pub(crate) fn shrink(&mut self) {
        self.bases.shrink_to_fit();
        self.offsets.shrink_to_fit();
    }

    pub(crate) fn bytes(&self) -> usize {
        bytes_of_list(&self.bases) + bytes_of_list(&self.offsets)
    }

    fn end(&self, number: usize) -> usize {
        self.bases[number / BLOCK] + self.offsets[number] as usize
    }

    fn last(&self) -> usize {
        self.len().checked_sub(1).map_or(0, |last| self.end(last))
    }
}
