//! The page at an offset across several parts, without visiting what comes before it.

use std::cmp::Reverse;

use roaring::RoaringBitmap;

use crate::key::Key;

/// Hits of one tier in one place.
pub(crate) enum Run<'a> {
    /// Ranks, and the keys by rank.
    Ranked(&'a RoaringBitmap, &'a [Key]),
    /// Keys, newest first.
    Listed(Vec<Key>),
}

impl Run<'_> {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Ranked(ranks, _) => ranks.len(),
            Self::Listed(keys) => keys.len() as u64,
        }
    }

    /// The hit of this number, counted from the newest.
    fn get(&self, number: u64) -> Option<Key> {
        match self {
            Self::Ranked(ranks, keys) => {
                let from_oldest = ranks.len().checked_sub(number + 1)?;
                let rank = ranks.select(u32::try_from(from_oldest).ok()?)?;
                keys.get(rank as usize).copied()
            }
            Self::Listed(keys) => keys.get(usize::try_from(number).ok()?).copied(),
        }
    }

    /// How many hits are newer than this key.
    fn count_newer(&self, key: Key) -> u64 {
        match self {
            Self::Ranked(ranks, keys) => {
                let first_newer = keys.partition_point(|other| *other <= key);
                let up_to = first_newer.checked_sub(1).and_then(|rank| u32::try_from(rank).ok());
                ranks.len() - up_to.map_or(0, |rank| ranks.rank(rank))
            }
            Self::Listed(keys) => keys.partition_point(|other| *other > key) as u64,
        }
    }
}

/// Up to `limit` hits of all runs, newest first, after the first `offset`. No hit is in two runs.
pub(crate) fn page(runs: &[Run<'_>], offset: u64, limit: usize) -> Vec<Key> {
    let mut next = split(runs, offset);
    let mut heads: Vec<Option<Key>> = runs.iter().zip(&next).map(|(run, &number)| run.get(number)).collect();
    let mut page = Vec::with_capacity(limit);
    while page.len() < limit {
        let newest = heads.iter().enumerate().filter_map(|(run, head)| head.map(|key| (key, Reverse(run))));
        let Some((key, Reverse(run))) = newest.max() else { break };
        page.push(key);
        next[run] += 1;
        heads[run] = runs[run].get(next[run]);
    }
    page
}

/// How many hits of each run are among the newest `offset` of all.
fn split(runs: &[Run<'_>], offset: u64) -> Vec<u64> {
    let mut low: Vec<u64> = vec![0; runs.len()];
    let mut high: Vec<u64> = runs.iter().map(|run| run.len().min(offset)).collect();
    if runs.len() == 1 {
        return high;
    }
    loop {
        let widest = (0..runs.len()).max_by_key(|&run| high[run] - low[run]);
        let Some(run) = widest.filter(|&run| high[run] > low[run]) else { return low };
        let middle = low[run].midpoint(high[run]);
        let Some(key) = runs[run].get(middle) else { return low };
        let newer: Vec<u64> = runs.iter().map(|run| run.count_newer(key)).collect();
        let is_before = newer.iter().sum::<u64>() < offset;
        for (other, &count) in newer.iter().enumerate() {
            if is_before {
                let count = if other == run { count + 1 } else { count };
                low[other] = low[other].max(count.min(high[other]));
            } else {
                high[other] = high[other].min(count.max(low[other]));
            }
        }
    }
}
