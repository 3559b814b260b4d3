//! Many sorted texts in one piece of memory.

use std::ops::Range;

use crate::ends::Ends;

/// Distinct texts in ascending order of their bytes; each has a number, counted from 0.
#[derive(Default)]
pub(crate) struct Strings {
    text: String,
    ends: Ends,
}

impl Strings {
    pub(crate) const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds a text that is greater than all before.
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    pub(crate) fn get(&self, number: usize) -> &str {
        &self.text[self.ends.range(number)]
    }

    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        let number = self.count_below(|other| other < text);
        (number < self.len() && self.get(number) == text).then_some(number)
    }

    /// Those that begin with this text.
    pub(crate) fn beginning_with(&self, prefix: &str) -> Range<usize> {
        let start = self.count_below(|other| other < prefix);
        start..self.count_below(|other| other < prefix || other.starts_with(prefix))
    }

    /// Room for so many bytes of texts in all. What is not used costs nothing until [`Self::shrink`] gives it back,
    /// while growing step by step would leave holes behind.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), ends: Ends::default() }
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.text.len()
    }

    /// What it takes in memory.
    pub(crate) fn footprint(&self) -> usize {
        self.text.capacity() + self.ends.bytes()
    }

    pub(crate) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink();
    }

    /// How many come first for which this holds.
    fn count_below(&self, is_below: impl Fn(&str) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
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
