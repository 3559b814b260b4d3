//! What is searched now, and how it changes. Searches read a view that is never touched again; whoever changes
//! something makes the next view.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use arc_swap::ArcSwap;
use latchkey_domain::ids::ProfileId;
use latchkey_domain::page::Page;
use latchkey_domain::search::{SearchQuery, matches};
use roaring::RoaringBitmap;

use crate::footprint::Footprint;
use crate::key::{Change, Entry, Key};
use crate::pages::{Run, page};
use crate::part::{Found, Part};

mod tidying;

#[cfg(test)]
mod tests;

/// Changed profiles that are looked at one by one before they become a part of their own.
const FRESH: usize = if cfg!(test) { 8 } else { 512 };
/// Changed profiles that are too many even while nobody tidies: every search looks at each of them.
const TOO_MANY_FRESH: usize = 4 * FRESH;

/// The profiles that can be found. Searching never waits for a change, and a change never for the merging of parts.
pub struct Index {
    view: ArcSwap<View>,
    /// The turn of whoever has changes to take over, in their order.
    applying: Mutex<()>,
    /// The turn of whoever makes the next view out of the present one: a moment.
    changing: Mutex<()>,
    /// The turn of whoever makes a part of what is fresh: milliseconds.
    settling: Mutex<()>,
    /// The parts that are being merged, which takes seconds: nobody else may merge them.
    merging: Mutex<Vec<Arc<Part>>>,
    /// Parts that are out of the view and may still be searched. Whoever tidies frees them, not whoever searches.
    replaced: Mutex<Vec<Arc<Part>>>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hits {
    /// How many profiles match, exactly.
    pub total: u64,
    /// Those of the page, best tier first, newest first in a tier.
    pub ids: Vec<ProfileId>,
}

/// Everything at one moment.
#[derive(Clone, Default)]
struct View {
    parts: Vec<Masked>,
    /// What changed last, ascending by key.
    fresh: Vec<Arc<Entry>>,
}

/// A part and those of it that are hidden: gone, or found elsewhere.
#[derive(Clone)]
struct Masked {
    part: Arc<Part>,
    hidden: Arc<RoaringBitmap>,
}

impl Default for Index {
    fn default() -> Self {
        Self::over(View::default())
    }
}

impl Index {
    pub(crate) fn of(part: Part) -> Self {
        let masked = Masked { part: Arc::new(part), hidden: Arc::default() };
        Self::over(View { parts: vec![masked], fresh: Vec::new() })
    }

    fn over(view: View) -> Self {
        Self {
            view: ArcSwap::from_pointee(view),
            applying: Mutex::default(),
            changing: Mutex::default(),
            settling: Mutex::default(),
            merging: Mutex::default(),
            replaced: Mutex::default(),
        }
    }

    /// Profiles that match by [`matches`], best tier first, newest first in a tier, then by id descending.
    #[must_use]
    pub fn search(&self, query: &SearchQuery, page: Page) -> Hits {
        self.view.load().search(query, page)
    }

    /// Takes changes over, in their order: whatever search starts afterwards knows them. A change that is taken
    /// over twice does no harm. Takes processor time, about ten microseconds a change.
    pub fn apply(&self, changes: impl IntoIterator<Item = Change>) {
        let _turn = locked(&self.applying);
        let mut changes = changes.into_iter().peekable();
        while changes.peek().is_some() {
            self.change(|view| changes.by_ref().take(FRESH).for_each(|change| view.apply(change)));
            if self.view.load().fresh.len() > TOO_MANY_FRESH {
                self.settle(locked(&self.settling));
            }
        }
    }

    /// Does one piece of the work that keeps searching quick: many fresh changes become a part, many small parts a
    /// larger one. Takes up to seconds of processor time; searches and changes go on meanwhile, and so may another
    /// thread that tidies. Answers whether there was anything to do.
    pub fn tidy(&self) -> bool {
        self.free();
        let turn = free_turn(&self.settling).filter(|_| self.view.load().fresh.len() >= FRESH);
        let did = match turn {
            Some(turn) => {
                self.settle(turn);
                true
            }
            None => self.merge(),
        };
        self.free();
        did
    }

    /// Whether [`Self::tidy`] has anything to do that nobody does yet.
    #[must_use]
    pub fn wants_tidying(&self) -> bool {
        let view = self.view.load();
        view.fresh.len() >= FRESH
            || !locked(&self.replaced).is_empty()
            || tidying::choose(&view.parts, &locked(&self.merging)).is_some()
    }

    /// Whether so much is fresh that a change may have to make a part of it first, which takes milliseconds.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        self.view.load().fresh.len() + FRESH > TOO_MANY_FRESH
    }

    /// What all parts take in memory. Looks at every set, which takes milliseconds.
    #[must_use]
    pub fn footprint(&self) -> Footprint {
        let view = self.view.load();
        view.parts.iter().fold(Footprint::default(), |sum, one| sum.plus(one.part.footprint()))
    }

    fn change(&self, change: impl FnOnce(&mut View)) {
        let _turn = locked(&self.changing);
        let mut view = View::clone(&self.view.load());
        change(&mut view);
        self.view.store(Arc::new(view));
    }
}

/// A lock whose holder panicked is taken over: a view is replaced as a whole, or not at all.
fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

fn free_turn(lock: &Mutex<()>) -> Option<MutexGuard<'_, ()>> {
    match lock.try_lock() {
        Ok(turn) => Some(turn),
        Err(TryLockError::Poisoned(turn)) => Some(turn.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl View {
    fn search(&self, query: &SearchQuery, of: Page) -> Hits {
        let found: Vec<(&Part, Found)> = self
            .parts
            .iter()
            .filter_map(|one| Some((&*one.part, one.part.find(query, &one.hidden)?)))
            .collect();
        let mut fresh: [Vec<Key>; 3] = Default::default();
        for entry in self.fresh.iter().rev() {
            if let Some(tier) = matches(query, &entry.text) {
                fresh[tier as usize].push(entry.key);
            }
        }

        let limit = usize::try_from(of.limit()).unwrap_or(usize::MAX);
        let mut offset = of.offset();
        let mut hits = Hits { total: 0, ids: Vec::new() };
        for (tier, listed) in fresh.into_iter().enumerate() {
            let mut runs: Vec<Run<'_>> =
                found.iter().map(|(part, found)| Run::Ranked(&found.tiers[tier], &part.keys)).collect();
            runs.push(Run::Listed(listed));
            runs.retain(|run| run.len() > 0);
            let count: u64 = runs.iter().map(Run::len).sum();
            hits.total += count;
            if offset < count && hits.ids.len() < limit {
                let keys = page(&runs, offset, limit - hits.ids.len());
                hits.ids.extend(keys.into_iter().map(|key| key.id));
            }
            offset = offset.saturating_sub(count);
        }
        hits
    }

    fn apply(&mut self, change: Change) {
        let key = change.key();
        let place = self.fresh.binary_search_by_key(&key, |entry| entry.key);
        if place.is_err() {
            self.parts.iter_mut().for_each(|one| one.hide(&key));
        }
        match (place, change) {
            (Ok(at), Change::Show(entry)) if self.fresh[at].text == entry.text => {}
            (Ok(at), Change::Show(entry)) => self.fresh[at] = Arc::new(entry),
            (Err(at), Change::Show(entry)) => self.fresh.insert(at, Arc::new(entry)),
            (Ok(at), Change::Hide(_)) => drop(self.fresh.remove(at)),
            (Err(_), Change::Hide(_)) => {}
        }
    }
}

impl Masked {
    /// Hides a profile, if it is in this part.
    fn hide(&mut self, key: &Key) {
        if let Some(rank) = self.part.rank(key)
            && !self.hidden.contains(rank)
        {
            Arc::make_mut(&mut self.hidden).insert(rank);
        }
    }
}
