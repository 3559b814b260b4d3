//! Intersection by lookup, for the time when few profiles are left: the next word is looked up for those
//! alone, which is far quicker than uniting the postings of all its terms.

use roaring::{MultiOps, RoaringBitmap};

use crate::inverted::{Inverted, Postings};

/// Largest share of survivors (one in so many profiles) for which lookups are quicker than set operations.
const FEW: u64 = if cfg!(test) { 2 } else { 16 };
/// Ratio of list length to survivors from which the list is searched instead of scanned.
const LONG: usize = if cfg!(test) { 1 } else { 16 };
/// Largest number of survivors that are looked up in a bitmap one by one.
const LOOKED_UP: usize = if cfg!(test) { 3 } else { 256 };
/// Largest number of survivors that are sorted; more are read off the bits in order.
const SORTED: usize = if cfg!(test) { 4 } else { 1_024 };

/// Profiles that match all words so far.
pub(crate) struct Survivors {
    /// Ascending doc ids.
    members: Vec<u32>,
    /// One bit per profile of the segment, set for members.
    bits: Vec<u8>,
}

impl Survivors {
    /// True if the set is small enough for lookups.
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
        // Sorted input: the library keeps all of it.
        RoaringBitmap::from_sorted_iter(self.members).unwrap_or_default()
    }

    /// Keeps the profiles with at least one of these terms for which the predicate holds. The predicate is
    /// checked last: it costs more than finding that no survivor has the term.
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

    /// Moves the members in `docs` to `kept`, unless the predicate rejects the term.
    fn take_docs(&mut self, docs: &[u32], kept: &mut Vec<u32>, is_asked: impl FnOnce() -> bool) {
        let first = docs.iter().position(|&doc| is_set(&self.bits, doc));
        if let Some(first) = first.filter(|_| is_asked()) {
            kept.extend(docs[first..].iter().filter(|&&doc| take(&mut self.bits, doc)));
        }
    }

    /// Moves the members for which `has` holds to `kept`, unless the predicate rejects the term.
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

    /// Sets the members, given in any order. Only the bits of former members can be set and are cleared.
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

/// Clears a bit. Returns its former value.
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
