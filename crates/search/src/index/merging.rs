//! Flushing of the memtable and size-tiered merging of segments, while searches and changes continue.

use std::sync::{Arc, MutexGuard};

use super::{Index, Masked, Snapshot, lock};
use crate::key::Entry;
use crate::segment::Segment;
use crate::segment_builder::SegmentBuilder;

/// Minimum number of segments of one size class that are merged into one.
const MERGE_FACTOR: usize = 4;

/// Guard of a running merge. Dropping it makes the chosen segments available to other merges.
pub(super) struct Merging<'a> {
    index: &'a Index,
    pub(super) segments: Vec<Masked>,
}

impl Drop for Merging<'_> {
    fn drop(&mut self) {
        lock(&self.index.merging)
            .retain(|segment| !self.segments.iter().any(|one| Arc::ptr_eq(&one.segment, segment)));
    }
}

impl Index {
    pub(super) fn flush(&self, _turn: MutexGuard<'_, ()>) {
        let then = self.snapshot.load_full();
        if then.memtable.is_empty() {
            return; // another thread flushed first
        }
        let entries: Vec<&Entry> = then.memtable.iter().map(Arc::as_ref).collect();
        let segment = Segment::of(SegmentBuilder::of(entries));
        self.update(|now| now.flush(&then.memtable, segment));
    }

    /// Merges several segments, or rewrites one with many hidden (deleted or superseded) profiles. Returns `false` if
    /// no segment needs it.
    pub(super) fn merge(&self) -> bool {
        let Some(chosen) = self.choose() else { return false };
        let sources: Vec<_> = chosen.segments.iter().map(|one| one.segment.source(&one.hidden)).collect();
        let segment = Segment::of(SegmentBuilder::merged(&sources));
        lock(&self.replaced).extend(chosen.segments.iter().map(|one| Arc::clone(&one.segment)));
        self.update(|now| now.replace(&chosen.segments, segment));
        true
    }

    /// Frees the replaced segments that no search uses any more.
    pub(super) fn free_replaced(&self) {
        let mut replaced = lock(&self.replaced);
        let unused: Vec<_> = replaced.extract_if(.., |segment| Arc::strong_count(segment) == 1).collect();
        drop(replaced);
        drop(unused);
    }

    pub(super) fn choose(&self) -> Option<Merging<'_>> {
        let mut merging = lock(&self.merging);
        let segments = choose(&self.snapshot.load().segments, &merging)?;
        merging.extend(segments.iter().map(|one| Arc::clone(&one.segment)));
        Some(Merging { index: self, segments })
    }
}

/// Chooses the segments of the next merge among those that are not being merged: a size class with at least
/// [`MERGE_FACTOR`] members, or a segment in which more than a quarter of the profiles are hidden (deleted or
/// superseded). Small segments come first, so that they stay few while a large one is merged.
pub(super) fn choose(segments: &[Masked], merging: &[Arc<Segment>]) -> Option<Vec<Masked>> {
    let mut by_size: Vec<(u32, &Masked)> = segments
        .iter()
        .filter(|one| !merging.iter().any(|segment| Arc::ptr_eq(segment, &one.segment)))
        .map(|one| (size_class(one), one))
        .collect();
    by_size.sort_by_key(|(size_class, _)| *size_class);
    let alike = by_size.chunk_by(|a, b| a.0 == b.0).find(|alike| alike.len() >= MERGE_FACTOR);
    let sparse = by_size.iter().find(|(_, one)| one.hidden.len() * 4 > one.segment.keys.len() as u64);
    match (alike, sparse) {
        (Some(alike), sparse) if sparse.is_none_or(|sparse| alike[0].0 <= sparse.0) => {
            Some(alike.iter().map(|(_, one)| (*one).clone()).collect())
        }
        (_, sparse) => sparse.map(|(_, one)| vec![(*one).clone()]),
    }
}

/// Returns the size class of a segment, a logarithm of its number of profiles. Within a class, sizes differ by less
/// than a factor of [`MERGE_FACTOR`].
fn size_class(one: &Masked) -> u32 {
    one.segment.keys.len().max(1).ilog(MERGE_FACTOR)
}

impl Snapshot {
    /// Moves the flushed entries from the memtable to the new segment. An entry that changed during the flush stays in
    /// the memtable, and its doc id in the segment is marked as superseded.
    pub(super) fn flush(&mut self, then: &[Arc<Entry>], segment: Segment) {
        let mut masked = Masked { segment: Arc::new(segment), hidden: Arc::default() };
        for entry in then {
            match self.memtable.binary_search_by_key(&entry.key, |other| other.key) {
                Ok(at) if Arc::ptr_eq(&self.memtable[at], entry) => {}
                _ => masked.hide(&entry.key),
            }
        }
        self.memtable.retain(|entry| {
            let at = then.binary_search_by_key(&entry.key, |other| other.key);
            !at.is_ok_and(|at| Arc::ptr_eq(&then[at], entry))
        });
        self.segments.push(masked);
    }

    /// Replaces the source segments of a merge by its result. A profile that was deleted or superseded in a source
    /// during the merge is marked as hidden in the result.
    pub(super) fn replace(&mut self, then: &[Masked], segment: Segment) {
        let mut masked = Masked { segment: Arc::new(segment), hidden: Arc::default() };
        let (replaced, mut kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.segments)
            .into_iter()
            .partition(|one| then.iter().any(|other| Arc::ptr_eq(&other.segment, &one.segment)));
        for one in replaced {
            let Some(before) = then.iter().find(|other| Arc::ptr_eq(&other.segment, &one.segment)) else {
                continue;
            };
            for doc in &*one.hidden - &*before.hidden {
                masked.hide(&one.segment.keys[doc as usize]);
            }
        }
        if !masked.segment.keys.is_empty() {
            kept.push(masked);
        }
        self.segments = kept;
    }
}
