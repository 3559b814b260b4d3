//! A table of sorted strings in one allocation.

use std::ops::Range;

use crate::offsets::Offsets;

/// Distinct strings in ascending byte order, addressed by their position.
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

    /// Positions of the strings with this prefix.
    pub(crate) fn with_prefix(&self, prefix: &str) -> Range<usize> {
        let start = self.partition_point(0..self.len(), |other| other < prefix);
        start..self.partition_point(0..self.len(), |other| other < prefix || other.starts_with(prefix))
    }

    /// Reserves this many bytes of text. Unused capacity costs no resident memory until [`Self::shrink`]
    /// releases it; growing step by step would fragment the heap.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), offsets: Offsets::default() }
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Memory use in bytes.
    pub(crate) fn memory_use(&self) -> usize {
        self.text.capacity() + self.offsets.bytes()
    }

    pub(crate) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.offsets.shrink();
    }

    /// Partition point of a range: the position of the first string for which the predicate does not hold.
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
