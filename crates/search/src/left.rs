//! What is left of a query's words so far, where that is little: the next word is looked for in those profiles alone,
//! which is far quicker than uniting all that have it.

use roaring::{MultiOps, RoaringBitmap};

use crate::inverted::{Inverted, Ranks};

/// Of so many profiles at most one is left: more would be quicker as sets.
const FEW: u64 = if cfg!(test) { 2 } else { 16 };
/// A list that is so many times as long as what is left is searched, not read.
const LONG: usize = if cfg!(test) { 1 } else { 16 };
/// So many are looked up in each set; for more the sets are united.
const LOOKED_UP: usize = if cfg!(test) { 3 } else { 256 };
/// So many are sorted; more are read off the bits.
const SORTED: usize = if cfg!(test) { 4 } else { 1_024 };

/// The profiles that have all words so far.
pub(crate) struct Left {
    /// Ascending ranks.
    members: Vec<u32>,
    /// One bit for each profile of the part, set for members.
    bits: Vec<u8>,
}

impl Left {
    /// Whether these are so few that it pays.
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
        // They ascend, so nothing is lost where the library would stop.
        RoaringBitmap::from_sorted_iter(self.members).unwrap_or_default()
    }

    /// Keeps those that have any of these texts that is asked for. Whether it is, is looked at last: it takes longer
    /// than seeing that none of its profiles is left.
    pub(crate) fn keep(
        &mut self,
        inverted: &Inverted,
        numbers: impl Iterator<Item = usize>,
        is_asked: impl Fn(usize) -> bool,
    ) {
        let mut kept = Vec::new();
        let mut large = Vec::new();
        for number in numbers {
            if kept.len() == self.members.len() {
                break;
            }
            match inverted.ranks(number) {
                Ranks::Plain(ranks) if ranks.len() / LONG > self.members.len() => {
                    self.take_members(
                        |rank| ranks.binary_search(&rank).is_ok(),
                        &mut kept,
                        || is_asked(number),
                    );
                }
                Ranks::Plain(ranks) => self.take_ranks(ranks, &mut kept, || is_asked(number)),
                Ranks::Large(ranks) if self.members.len() <= LOOKED_UP => {
                    self.take_members(|rank| ranks.contains(rank), &mut kept, || is_asked(number));
                }
                Ranks::Large(ranks) if is_asked(number) => large.push(ranks),
                Ranks::Large(_) => {}
            }
        }
        if !large.is_empty() {
            kept.extend(RoaringBitmap::from_lsb0_bytes(0, &self.bits) & large.union());
        }
        self.become_of(kept);
    }

    /// Takes those of the ranks that are left, if there are any and the text is asked for.
    fn take_ranks(&mut self, ranks: &[u32], kept: &mut Vec<u32>, is_asked: impl FnOnce() -> bool) {
        let first = ranks.iter().position(|&rank| is_set(&self.bits, rank));
        if let Some(first) = first.filter(|_| is_asked()) {
            kept.extend(ranks[first..].iter().filter(|&&rank| take(&mut self.bits, rank)));
        }
    }

    /// Takes those that are left and among the ranks, if there are any and the text is asked for.
    fn take_members(
        &mut self,
        has: impl Fn(u32) -> bool,
        kept: &mut Vec<u32>,
        is_asked: impl FnOnce() -> bool,
    ) {
        let is_found = |rank: &u32| is_set(&self.bits, *rank) && has(*rank);
        let Some(first) = self.members.iter().position(is_found).filter(|_| is_asked()) else { return };
        let start = kept.len();
        kept.extend(self.members[first..].iter().copied().filter(is_found));
        for &rank in &kept[start..] {
            take(&mut self.bits, rank);
        }
    }

    /// These are left, in any order. The bits of all others are cleared, which are set for nobody but members.
    fn become_of(&mut self, mut kept: Vec<u32>) {
        for &rank in &self.members {
            self.bits[rank as usize / 8] = 0;
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

fn is_set(bits: &[u8], rank: u32) -> bool {
    bits[rank as usize / 8] & 1 << (rank % 8) != 0
}

/// Clears a bit. Answers whether it was set.
fn take(bits: &mut [u8], rank: u32) -> bool {
    let was_set = is_set(bits, rank);
    bits[rank as usize / 8] &= !(1 << (rank % 8));
    was_set
}

fn set_all(bits: &mut [u8], ranks: &[u32]) {
    for &rank in ranks {
        bits[rank as usize / 8] |= 1 << (rank % 8);
    }
}
