//! A table of sorted strings, stored one after another in a single allocation.

use std::ops::Range;

use crate::offsets::Offsets;

/// Table of distinct strings in ascending byte order. A string is addressed by its position.
#[derive(Default)]
pub(crate) struct StringTable {
    text: String,
    offsets: Offsets,
}

impl StringTable {
    pub(crate) const fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Appends a string, which must sort after all others.
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.offsets.push(self.text.len());
    }

    pub(crate) fn get(&self, number: usize) -> &str {
        &self.text[self.offsets.range(number)]
    }

    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        let number = self.partition_point(0..self.len(), |other| other < text);
        (number < self.len() && self.get(number) == text).then_some(number)
    }

    /// Returns the positions of the strings that begin with this prefix.
    pub(crate) fn with_prefix(&self, prefix: &str) -> Range<usize> {
        let start = self.partition_point(0..self.len(), |other| other < prefix);
        start..self.partition_point(0..self.len(), |other| other < prefix || other.starts_with(prefix))
    }

    /// Creates an empty table with memory for this many bytes of text. Unused capacity costs no resident memory, and
    /// [`Self::shrink`] releases it. Growing the table step by step would fragment the heap.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), offsets: Offsets::default() }
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn memory_use(&self) -> usize {
        self.text.capacity() + self.offsets.bytes()
    }

    pub(crate) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.offsets.shrink();
    }

    /// Returns the position of the first string in a range for which the predicate is false. The predicate must be true
    /// for all strings before that position, and false for all after it.
    pub(crate) fn partition_point(&self, range: Range<usize>, is_below: impl Fn(&str) -> bool) -> usize {
        let (mut low, mut high) = (range.start, range.end);
        while low < high {
            let middle = low.midpoint(high);
            if is_below(self.get(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}
