//! Which profiles have a whole name or username that equals a text, or begins with it.

use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringBitmap;

use crate::footprint::bytes_of_prepared;
use crate::inverted::Inverted;
use crate::unions::{Prepared, unite};

/// Ranks that a beginning must have in all for its set to be made in advance.
const MANY: usize = if cfg!(test) { 3 } else { 8_192 };
/// The longest beginning in characters that is prepared; a query has hardly more.
const LONGEST: usize = 64;

/// Names and usernames, with the sets of the common beginnings.
pub(crate) struct Tiers {
    pub(crate) heads: Inverted,
    beginnings: Prepared,
}

impl Tiers {
    pub(crate) fn of(heads: Inverted, profiles: usize) -> Self {
        let mut beginnings = Prepared::new();
        let all = 0..heads.texts.len();
        let mut maker = Maker { heads: &heads, profiles, made: &mut beginnings };
        maker.split(&all, 0, 0);
        Self { heads, beginnings }
    }

    /// What the sets take in memory, without the names.
    pub(crate) fn footprint_of_sets(&self) -> usize {
        bytes_of_prepared(&self.beginnings)
    }

    /// The profiles of the tier [`latchkey_domain::search::Tier::Exact`].
    pub(crate) fn equal(&self, text: &str, profiles: usize) -> RoaringBitmap {
        unite(&self.heads, self.heads.texts.find(text).into_iter(), profiles)
    }

    /// The same and those of [`latchkey_domain::search::Tier::Prefix`].
    pub(crate) fn beginning(&self, text: &str, profiles: usize) -> Arc<RoaringBitmap> {
        match self.beginnings.get(text) {
            Some(set) => Arc::clone(set),
            None => Arc::new(unite(&self.heads, self.heads.texts.beginning_with(text), profiles)),
        }
    }
}

struct Maker<'a> {
    heads: &'a Inverted,
    profiles: usize,
    made: &'a mut Prepared,
}

impl Maker<'_> {
    /// Looks at the texts of a range by their next character, at this byte.
    fn split(&mut self, range: &Range<usize>, at: usize, chars: usize) {
        let mut start = range.start;
        while start < range.end {
            let text = self.heads.texts.get(start);
            let Some(next) = text[at..].chars().next() else {
                start += 1; // the text that ends here comes first
                continue;
            };
            let reach = at + next.len_utf8();
            let prefix = &text[..reach];
            let end = start + self.heads.texts_from(start, range.end, prefix);
            self.prepare(&(start..end), prefix, chars + 1);
            start = end;
        }
    }

    fn prepare(&mut self, range: &Range<usize>, prefix: &str, chars: usize) {
        let ranks: usize = range.clone().map(|number| self.heads.ranks(number).len()).sum();
        if ranks <= MANY {
            return;
        }
        let before = &prefix[..prefix.char_indices().next_back().map_or(0, |(at, _)| at)];
        let set = Arc::new(unite(self.heads, range.clone(), self.profiles));
        // It is a subset of the shorter beginning's: as many are the same ones.
        let same = self.made.get(before).filter(|shorter| shorter.len() == set.len());
        let set = same.map_or(set, Arc::clone);
        self.made.insert(prefix.into(), set);
        if chars < LONGEST {
            self.split(range, prefix.len(), chars);
        }
    }
}

impl Inverted {
    /// How many texts from `start` on, before `end`, begin with the prefix.
    fn texts_from(&self, start: usize, end: usize, prefix: &str) -> usize {
        let (mut low, mut high) = (start, end);
        while low < high {
            let middle = low.midpoint(high);
            if self.texts.get(middle).starts_with(prefix) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low - start
    }
}
