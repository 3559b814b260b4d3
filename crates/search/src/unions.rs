//! Unions of the postings of many terms, and estimates of their running time.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use roaring::{MultiOps, RoaringBitmap};

use crate::inverted::{Inverted, Postings};
use crate::memory_use::bytes_of_set;

/// Precomputed sets of matching profiles by query text.
pub(crate) type Precomputed = HashMap<Box<str>, Arc<RoaringBitmap>>;

/// Returns the memory use of precomputed sets in bytes. A set that several texts share counts once.
pub(crate) fn bytes_of_precomputed(precomputed: &Precomputed) -> usize {
    let mut seen = HashSet::new();
    let sets = precomputed.values().filter(|set| seen.insert(Arc::as_ptr(set)));
    let terms: usize = precomputed.keys().map(|text| text.len()).sum();
    let slots = precomputed.capacity() * (size_of::<Box<str>>() + size_of::<Arc<RoaringBitmap>>() + 1);
    terms + slots + sets.map(|set| bytes_of_set(set)).sum::<usize>()
}

/// Inverse of the density of postings from which a flat bit field is quicker than sorting: 256 means one posting per
/// 256 profiles.
const SPARSE: usize = if cfg!(test) { 4 } else { 256 };

/// Estimated time to visit one term, in nanoseconds. Only the order of magnitude is measured.
pub(crate) const COST_OF_TEXT: u64 = 60;
const COST_OF_POSTING: u64 = 3;
/// Estimated time to add one container of a bitmap (2¹⁶ profiles) to a union, in nanoseconds.
const COST_OF_CONTAINER: u64 = 400;

/// Returns the estimated time to add these postings to a union, in nanoseconds.
pub(crate) fn cost(docs: Postings<'_>, profiles: usize) -> u64 {
    let by_posting = docs.len() as u64 * COST_OF_POSTING;
    let by_container = (profiles as u64).div_ceil(1 << 16) * COST_OF_CONTAINER;
    COST_OF_TEXT
        + match docs {
            Postings::List(_) => by_posting,
            Postings::Bitmap(_) => by_posting.min(by_container),
        }
}

pub(crate) fn unite(
    inverted: &Inverted,
    numbers: impl Iterator<Item = usize>,
    profiles: usize,
) -> RoaringBitmap {
    let (lists, mut bitmaps, count) = split(inverted, numbers);
    let few = gather(&lists, count, profiles);
    if bitmaps.is_empty() {
        return few;
    }
    bitmaps.push(&few);
    bitmaps.union()
}

/// Returns the postings of these terms, lists and bitmaps apart, and the total length of the lists.
pub(crate) fn split(
    inverted: &Inverted,
    numbers: impl Iterator<Item = usize>,
) -> (Vec<&[u32]>, Vec<&RoaringBitmap>, usize) {
    let mut lists = Vec::new();
    let mut bitmaps = Vec::new();
    let mut count = 0;
    for number in numbers {
        match inverted.postings(number) {
            Postings::List(docs) => {
                count += docs.len();
                lists.push(docs);
            }
            Postings::Bitmap(set) => bitmaps.push(set),
        }
    }
    (lists, bitmaps, count)
}

fn gather(lists: &[&[u32]], count: usize, profiles: usize) -> RoaringBitmap {
    if count > profiles / SPARSE && count > SPARSE {
        let mut bits = vec![0_u8; profiles.div_ceil(8)];
        for &doc in lists.iter().copied().flatten() {
            bits[doc as usize / 8] |= 1 << (doc % 8);
        }
        return RoaringBitmap::from_lsb0_bytes(0, &bits);
    }
    let mut docs = Vec::with_capacity(count);
    for one in lists {
        docs.extend_from_slice(one);
    }
    docs.sort_unstable();
    docs.dedup();
    // The input is sorted, so this cannot fail.
    RoaringBitmap::from_sorted_iter(docs).unwrap_or_default()
}
