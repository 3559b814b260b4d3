//! The search index as an immutable snapshot that writers replace as a whole (read-copy-update). Searches never take a
//! lock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use arc_swap::ArcSwap;
use latchkey_domain::ids::ProfileId;
use latchkey_domain::page::Page;
use latchkey_domain::search::{SearchQuery, matches};
use roaring::RoaringBitmap;

use crate::key::{Change, Entry, Key};
use crate::memory_use::MemoryUse;
use crate::pages::{HitList, page};
use crate::segment::{Segment, SegmentHits};

mod merging;

#[cfg(test)]
mod tests;

/// Number of profiles at which the memtable is flushed into a segment. Every search scans the whole memtable.
const FLUSH_AT: usize = if cfg!(test) { 8 } else { 512 };
/// Number of profiles above which [`Index::apply`] itself flushes the memtable.
const MEMTABLE_LIMIT: usize = 4 * FLUSH_AT;

/// Concurrent index of the searchable profiles. A search never waits for a change, and a change never waits for a
/// merge of segments.
#[derive(Default)]
pub struct Index {
    snapshot: ArcSwap<Snapshot>,
    /// Lock that serialises [`Index::apply`].
    applying: Mutex<()>,
    /// Lock that serialises replacements of the snapshot. It is held for microseconds.
    updating: Mutex<()>,
    /// Lock that serialises flushes of the memtable. It is held for milliseconds.
    flushing: Mutex<()>,
    /// Segments in a running merge, which takes seconds. No other merge may choose them.
    merging: Mutex<Vec<Arc<Segment>>>,
    /// Segments that a merge replaced and a running search may still use. The merging thread frees these
    /// segments, so that no search spends time on that.
    replaced: Mutex<Vec<Arc<Segment>>>,
}

/// One page of search results, with the number of all matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hits {
    /// Exact number of matching profiles.
    pub total: u64,
    /// Ids of the page: best relevance tier first, newest first within a tier.
    pub ids: Vec<ProfileId>,
}

/// Immutable state of the index: its segments and its memtable.
#[derive(Clone, Default)]
struct Snapshot {
    segments: Vec<Masked>,
    /// Memtable: profiles changed since the last flush, ascending by key.
    memtable: Vec<Arc<Entry>>,
}

/// A segment with the set of its doc ids that are deleted, or superseded by a newer segment or the memtable.
#[derive(Clone)]
struct Masked {
    segment: Arc<Segment>,
    hidden: Arc<RoaringBitmap>,
}

impl Index {
    pub(crate) fn of(segment: Segment) -> Self {
        let masked = Masked { segment: Arc::new(segment), hidden: Arc::default() };
        let snapshot = Snapshot { segments: vec![masked], memtable: Vec::new() };
        Self { snapshot: ArcSwap::from_pointee(snapshot), ..Self::default() }
    }

    /// Finds the profiles that match by [`matches()`]: best relevance tier first, newest first within a tier, then by
    /// id descending.
    #[must_use]
    pub fn search(&self, query: &SearchQuery, page: Page) -> Hits {
        self.snapshot.load().search(query, page)
    }

    /// Applies changes in their order. Applying a change twice has the effect of applying it once. Searches that begin
    /// afterwards see the changes. CPU-bound, about 10 µs per change.
    pub fn apply(&self, changes: impl IntoIterator<Item = Change>) {
        let _turn = lock(&self.applying);
        let mut changes = changes.into_iter().peekable();
        while changes.peek().is_some() {
            self.update(|snapshot| changes.by_ref().take(FLUSH_AT).for_each(|change| snapshot.apply(change)));
            if self.snapshot.load().memtable.len() > MEMTABLE_LIMIT {
                self.flush(lock(&self.flushing));
            }
        }
    }

    /// Does one step of maintenance: flushes a full memtable, or merges similar segments. CPU-bound, up to seconds.
    /// Other threads can search, apply changes and merge meanwhile. Returns `false` if there was nothing to do.
    pub fn merge_step(&self) -> bool {
        self.free_replaced();
        let turn = try_lock(&self.flushing).filter(|_| self.snapshot.load().memtable.len() >= FLUSH_AT);
        let did = match turn {
            Some(turn) => {
                self.flush(turn);
                true
            }
            None => self.merge(),
        };
        self.free_replaced();
        did
    }

    /// True if [`Self::merge_step`] would find work that no other thread is doing.
    #[must_use]
    pub fn needs_merging(&self) -> bool {
        let snapshot = self.snapshot.load();
        snapshot.memtable.len() >= FLUSH_AT
            || !lock(&self.replaced).is_empty()
            || merging::choose(&snapshot.segments, &lock(&self.merging)).is_some()
    }

    /// True if the next call of [`Self::apply`] may have to flush the memtable into a segment, which takes
    /// milliseconds.
    #[must_use]
    pub fn is_memtable_full(&self) -> bool {
        self.snapshot.load().memtable.len() + FLUSH_AT > MEMTABLE_LIMIT
    }

    /// Returns the number of profiles.
    #[must_use]
    pub fn profiles(&self) -> u64 {
        let snapshot = self.snapshot.load();
        let of_segment = |one: &Masked| (one.segment.keys.len() as u64).saturating_sub(one.hidden.len());
        snapshot.memtable.len() as u64 + snapshot.segments.iter().map(of_segment).sum::<u64>()
    }

    /// Returns the memory use of all segments. The call takes milliseconds, because it visits every set.
    #[must_use]
    pub fn memory_use(&self) -> MemoryUse {
        let snapshot = self.snapshot.load();
        snapshot.segments.iter().fold(MemoryUse::default(), |sum, one| sum.plus(one.segment.memory_use()))
    }

    fn update(&self, change: impl FnOnce(&mut Snapshot)) {
        let _turn = lock(&self.updating);
        let mut snapshot = Snapshot::clone(&self.snapshot.load());
        change(&mut snapshot);
        self.snapshot.store(Arc::new(snapshot));
    }
}

/// Locks a mutex. Poisoning is ignored, because a snapshot is replaced as a whole or not at all.
fn lock<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

fn try_lock(lock: &Mutex<()>) -> Option<MutexGuard<'_, ()>> {
    match lock.try_lock() {
        Ok(turn) => Some(turn),
        Err(TryLockError::Poisoned(turn)) => Some(turn.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl Snapshot {
    fn search(&self, query: &SearchQuery, of: Page) -> Hits {
        let found: Vec<(&Segment, SegmentHits)> = self
            .segments
            .iter()
            .filter_map(|one| Some((&*one.segment, one.segment.find(query, &one.hidden)?)))
            .collect();
        let mut fresh: [Vec<Key>; 3] = Default::default();
        for entry in self.memtable.iter().rev() {
            if let Some(tier) = matches(query, &entry.text) {
                fresh[tier as usize].push(entry.key);
            }
        }

        let limit = usize::try_from(of.limit()).unwrap_or(usize::MAX);
        let mut offset = of.offset();
        let mut hits = Hits { total: 0, ids: Vec::new() };
        for (tier, keys) in fresh.into_iter().enumerate() {
            let mut lists: Vec<HitList<'_>> = found
                .iter()
                .map(|(segment, found)| HitList::Docs(&found.by_tier[tier], &segment.keys))
                .collect();
            lists.push(HitList::Keys(keys));
            lists.retain(|list| list.len() > 0);
            let count: u64 = lists.iter().map(HitList::len).sum();
            hits.total += count;
            if offset < count && hits.ids.len() < limit {
                let keys = page(&lists, offset, limit - hits.ids.len());
                hits.ids.extend(keys.into_iter().map(|key| key.id));
            }
            offset = offset.saturating_sub(count);
        }
        hits
    }

    fn apply(&mut self, change: Change) {
        let key = change.key();
        let place = self.memtable.binary_search_by_key(&key, |entry| entry.key);
        if place.is_err() {
            self.segments.iter_mut().for_each(|one| one.hide(&key));
        }
        match (place, change) {
            (Ok(at), Change::Upsert(entry)) if self.memtable[at].text == entry.text => {}
            (Ok(at), Change::Upsert(entry)) => self.memtable[at] = Arc::new(entry),
            (Err(at), Change::Upsert(entry)) => self.memtable.insert(at, Arc::new(entry)),
            (Ok(at), Change::Remove(_)) => drop(self.memtable.remove(at)),
            (Err(_), Change::Remove(_)) => {}
        }
    }
}

impl Masked {
    /// Marks the doc id of a profile as hidden (deleted or superseded), if this segment contains the profile.
    fn hide(&mut self, key: &Key) {
        if let Some(doc) = self.segment.doc(key)
            && !self.hidden.contains(doc)
        {
            Arc::make_mut(&mut self.hidden).insert(doc);
        }
    }
}
