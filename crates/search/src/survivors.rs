//! Intersection by lookup, for queries whose first words match few profiles. The other words are looked up for those
//! profiles only, which is far quicker than uniting the postings of all terms of a word.

use roaring::{MultiOps, RoaringBitmap};

use crate::inverted::{Inverted, Postings};

/// Inverse of the largest share of matching profiles for which lookups are quicker than set operations: 16 means one
/// profile in 16.
const FEW: u64 = if cfg!(test) { 2 } else { 16 };
/// Minimum ratio of a posting list's length to the number of matching profiles at which the list is searched by
/// bisection instead of scanned.
const LONG: usize = if cfg!(test) { 1 } else { 16 };
/// Maximum number of matching profiles that are looked up one by one in a bitmap of postings.
const LOOKED_UP: usize = if cfg!(test) { 3 } else { 256 };
/// Maximum number of matching profiles that are sorted. Larger sets are read from the bit field in ascending order.
const SORTED: usize = if cfg!(test) { 4 } else { 1_024 };

/// Set of the profiles that match all query words checked so far.
pub(crate) struct Survivors {
    /// Doc ids of the profiles, ascending.
    members: Vec<u32>,
    /// Bit field with one bit per profile of the segment, set for members.
    bits: Vec<u8>,
}

impl Survivors {
    /// True if the set is so small that lookups are quicker than set operations.
    pub(crate) fn pays(set: &RoaringBitmap, profiles: usize) -> bool {
        set.len() <= profiles as u64 / FEW
    }

    pub(crate) fn of(set: &RoaringBitmap, profiles: usize) -> Self {
        let mut bits = vec![0; profiles.div_ceil(8)];
        let members: Vec<u32> = set.iter().collect();
        set_all(&mut bits, &members);
        Self { members, bits }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub(crate) fn into_set(self) -> RoaringBitmap {
        // The input is sorted, so this cannot fail.
        RoaringBitmap::from_sorted_iter(self.members).unwrap_or_default()
    }

    /// Retains the profiles that contain at least one of the terms at the positions `numbers` for which
    /// `is_asked` returns true. `is_asked` is called as late as possible, because the call costs more than
    /// the search for a profile that contains the term.
    pub(crate) fn keep(
        &mut self,
        inverted: &Inverted,
        numbers: impl Iterator<Item = usize>,
        is_asked: impl Fn(usize) -> bool,
    ) {
        let mut kept = Vec::new();
        let mut bitmaps = Vec::new();
        for number in numbers {
            if kept.len() == self.members.len() {
                break;
            }
            match inverted.postings(number) {
                Postings::List(docs) if docs.len() / LONG > self.members.len() => {
                    self.take_members(|doc| docs.binary_search(&doc).is_ok(), &mut kept, || is_asked(number));
                }
                Postings::List(docs) => self.take_docs(docs, &mut kept, || is_asked(number)),
                Postings::Bitmap(docs) if self.members.len() <= LOOKED_UP => {
                    self.take_members(|doc| docs.contains(doc), &mut kept, || is_asked(number));
                }
                Postings::Bitmap(docs) if is_asked(number) => bitmaps.push(docs),
                Postings::Bitmap(_) => {}
            }
        }
        if !bitmaps.is_empty() {
            kept.extend(RoaringBitmap::from_lsb0_bytes(0, &self.bits) & bitmaps.union());
        }
        self.replace_with(kept);
    }

    /// Moves the members that are in `docs`, the postings of a term, from the bit field to `kept`. Does nothing if
    /// there are no such members, or if `is_asked` rejects the term.
    fn take_docs(&mut self, docs: &[u32], kept: &mut Vec<u32>, is_asked: impl FnOnce() -> bool) {
        let first = docs.iter().position(|&doc| is_set(&self.bits, doc));
        if let Some(first) = first.filter(|_| is_asked()) {
            kept.extend(docs[first..].iter().filter(|&&doc| take(&mut self.bits, doc)));
        }
    }

    /// Moves the members that contain a term, according to `has`, from the bit field to `kept`. Does nothing if there
    /// are no such members, or if `is_asked` rejects the term.
    fn take_members(
        &mut self,
        has: impl Fn(u32) -> bool,
        kept: &mut Vec<u32>,
        is_asked: impl FnOnce() -> bool,
    ) {
        let is_found = |doc: &u32| is_set(&self.bits, *doc) && has(*doc);
        let Some(first) = self.members.iter().position(is_found).filter(|_| is_asked()) else { return };
        let start = kept.len();
        kept.extend(self.members[first..].iter().copied().filter(is_found));
        for &doc in &kept[start..] {
            take(&mut self.bits, doc);
        }
    }

    /// Replaces the members by a subset of them, given in any order.
    fn replace_with(&mut self, mut kept: Vec<u32>) {
        for &doc in &self.members {
            self.bits[doc as usize / 8] = 0;
        }
        set_all(&mut self.bits, &kept);
        if kept.len() > SORTED {
            kept.clear();
            kept.extend(RoaringBitmap::from_lsb0_bytes(0, &self.bits));
        } else {
            kept.sort_unstable();
        }
        self.members = kept;
    }
}

fn is_set(bits: &[u8], doc: u32) -> bool {
    bits[doc as usize / 8] & 1 << (doc % 8) != 0
}

/// Clears the bit of a profile and returns its former value.
fn take(bits: &mut [u8], doc: u32) -> bool {
    let was_set = is_set(bits, doc);
    bits[doc as usize / 8] &= !(1 << (doc % 8));
    was_set
}

fn set_all(bits: &mut [u8], docs: &[u32]) {
    for &doc in docs {
        bits[doc as usize / 8] |= 1 << (doc % 8);
    }
}
