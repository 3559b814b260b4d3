//! Selection of one page of results, at an offset, from the hits of several segments. The hits before the offset are
//! not visited.

use std::cmp::Reverse;

use roaring::RoaringBitmap;

use crate::key::Key;

/// Hits of one relevance tier in one segment or in the memtable.
pub(crate) enum HitList<'a> {
    /// Doc ids of the hits, and the keys of all profiles of their segment by doc id.
    Docs(&'a RoaringBitmap, &'a [Key]),
    /// Keys of the hits in the memtable, newest first.
    Keys(Vec<Key>),
}

impl HitList<'_> {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Docs(docs, _) => docs.len(),
            Self::Keys(keys) => keys.len() as u64,
        }
    }

    /// Returns the hit at a position, counted from the newest; `None` after the last hit.
    fn get(&self, number: u64) -> Option<Key> {
        match self {
            Self::Docs(docs, keys) => {
                let from_oldest = docs.len().checked_sub(number + 1)?;
                let doc = docs.select(u32::try_from(from_oldest).ok()?)?;
                keys.get(doc as usize).copied()
            }
            Self::Keys(keys) => keys.get(usize::try_from(number).ok()?).copied(),
        }
    }

    /// Returns the number of hits in this list that are newer than a key.
    fn count_newer(&self, key: Key) -> u64 {
        match self {
            Self::Docs(docs, keys) => {
                let first_newer = keys.partition_point(|other| *other <= key);
                let up_to = first_newer.checked_sub(1).and_then(|doc| u32::try_from(doc).ok());
                docs.len() - up_to.map_or(0, |doc| docs.rank(doc))
            }
            Self::Keys(keys) => keys.partition_point(|other| *other > key) as u64,
        }
    }
}

/// Merges the lists, newest first, and returns up to `limit` hits after the first `offset`. The lists must be
/// disjoint.
pub(crate) fn page(lists: &[HitList<'_>], offset: u64, limit: usize) -> Vec<Key> {
    let mut next = split(lists, offset);
    let mut heads: Vec<Option<Key>> =
        lists.iter().zip(&next).map(|(list, &number)| list.get(number)).collect();
    let mut page = Vec::with_capacity(limit);
    while page.len() < limit {
        let newest = heads.iter().enumerate().filter_map(|(list, head)| head.map(|key| (key, Reverse(list))));
        let Some((key, Reverse(list))) = newest.max() else { break };
        page.push(key);
        next[list] += 1;
        heads[list] = lists[list].get(next[list]);
    }
    page
}

/// Computes how many of the newest `offset` hits each list contributes: a selection in several sorted lists by
/// bisection.
fn split(lists: &[HitList<'_>], offset: u64) -> Vec<u64> {
    let mut low: Vec<u64> = vec![0; lists.len()];
    let mut high: Vec<u64> = lists.iter().map(|list| list.len().min(offset)).collect();
    if lists.len() == 1 {
        return high;
    }
    loop {
        let widest = (0..lists.len()).max_by_key(|&list| high[list] - low[list]);
        let Some(list) = widest.filter(|&list| high[list] > low[list]) else { return low };
        let middle = low[list].midpoint(high[list]);
        let Some(key) = lists[list].get(middle) else { return low };
        let newer: Vec<u64> = lists.iter().map(|list| list.count_newer(key)).collect();
        let is_before = newer.iter().sum::<u64>() < offset;
        for (other, &count) in newer.iter().enumerate() {
            if is_before {
                let count = if other == list { count + 1 } else { count };
                low[other] = low[other].max(count.min(high[other]));
            } else {
                high[other] = high[other].min(count.max(low[other]));
            }
        }
    }
}
