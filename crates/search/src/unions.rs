//! Uniting the ranks of many texts, and what that costs.

use std::collections::HashMap;
use std::sync::Arc;

use roaring::{MultiOps, RoaringBitmap};

use crate::inverted::{Inverted, Ranks};

/// Sets that were made in advance, by the text that asks for them.
pub(crate) type Prepared = HashMap<Box<str>, Arc<RoaringBitmap>>;

/// Of so many profiles one among the united ranks: from there on a flat field of bits is quicker than sorting.
const SPARSE: usize = if cfg!(test) { 4 } else { 256 };

/// What finding one text among many costs, in nanoseconds, as measured in the order of magnitude.
pub(crate) const COST_OF_TEXT: u64 = 60;
const COST_OF_RANK: u64 = 3;
/// A set's container of 2¹⁶ profiles.
const COST_OF_CONTAINER: u64 = 400;

/// About what uniting this text with others costs, in nanoseconds.
pub(crate) fn cost(ranks: Ranks<'_>, profiles: usize) -> u64 {
    let by_rank = ranks.len() as u64 * COST_OF_RANK;
    let by_container = (profiles as u64).div_ceil(1 << 16) * COST_OF_CONTAINER;
    COST_OF_TEXT
        + match ranks {
            Ranks::Plain(_) => by_rank,
            Ranks::Large(_) => by_rank.min(by_container),
        }
}

/// The profiles that have any of these texts.
pub(crate) fn unite(
    inverted: &Inverted,
    numbers: impl Iterator<Item = usize>,
    profiles: usize,
) -> RoaringBitmap {
    let (plain, mut large, count) = split(inverted, numbers);
    let few = gather(&plain, count, profiles);
    if large.is_empty() {
        return few;
    }
    large.push(&few);
    large.union()
}

/// The plain ranks of these texts, the sets of those that have one, and how many ranks are plain.
pub(crate) fn split(
    inverted: &Inverted,
    numbers: impl Iterator<Item = usize>,
) -> (Vec<&[u32]>, Vec<&RoaringBitmap>, usize) {
    let mut plain = Vec::new();
    let mut large = Vec::new();
    let mut count = 0;
    for number in numbers {
        match inverted.ranks(number) {
            Ranks::Plain(ranks) => {
                count += ranks.len();
                plain.push(ranks);
            }
            Ranks::Large(set) => large.push(set),
        }
    }
    (plain, large, count)
}

fn gather(plain: &[&[u32]], count: usize, profiles: usize) -> RoaringBitmap {
    if count > profiles / SPARSE && count > SPARSE {
        let mut bits = vec![0_u8; profiles.div_ceil(8)];
        for &rank in plain.iter().copied().flatten() {
            bits[rank as usize / 8] |= 1 << (rank % 8);
        }
        return RoaringBitmap::from_lsb0_bytes(0, &bits);
    }
    let mut ranks = Vec::with_capacity(count);
    for one in plain {
        ranks.extend_from_slice(one);
    }
    ranks.sort_unstable();
    ranks.dedup();
    // They ascend, so nothing is lost where the library would stop.
    RoaringBitmap::from_sorted_iter(ranks).unwrap_or_default()
}
