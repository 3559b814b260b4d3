//! What is searched now, and how it changes. Searches read a view that is never touched again; whoever changes
//! something makes the next view.

use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use arc_swap::ArcSwap;
use latchkey_domain::ids::ProfileId;
use latchkey_domain::page::Page;
use latchkey_domain::search::{SearchQuery, matches};
use roaring::RoaringBitmap;

use crate::draft::Draft;
use crate::key::{Change, Entry, Key};
use crate::pages::{Run, page};
use crate::part::{Found, Part};

mod tidying;

/// Changed profiles that are looked at one by one before they become a part of their own.
const FRESH: usize = if cfg!(test) { 8 } else { 512 };
/// Changed profiles that are too many even while nobody tidies.
const TOO_MANY_FRESH: usize = 8 * FRESH;

/// The profiles that can be found. Searching never waits for a change.
pub struct Index {
    view: ArcSwap<View>,
    changing: Mutex<()>,
    tidying: Mutex<()>,
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
        Self { view: ArcSwap::from_pointee(view), changing: Mutex::new(()), tidying: Mutex::new(()) }
    }

    /// Profiles that match by [`matches`], best tier first, newest first in a tier, then by id descending.
    #[must_use]
    pub fn search(&self, query: &SearchQuery, page: Page) -> Hits {
        self.view.load().search(query, page)
    }

    /// Takes changes over, in their order: whatever search starts afterwards knows them. A change that is taken
    /// over twice does no harm.
    pub fn apply(&self, changes: impl IntoIterator<Item = Change>) {
        let turn = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut view = View::clone(&self.view.load());
        for change in changes {
            view.apply(change);
        }
        let is_full = view.fresh.len() > TOO_MANY_FRESH;
        self.view.store(Arc::new(view));
        drop(turn);
        if is_full {
            self.tidy();
        }
    }

    /// Does one piece of the work that keeps searching quick: many fresh changes become a part, many small parts a
    /// larger one. Takes up to seconds of processor time; searches and changes go on meanwhile. Answers whether
    /// there was anything to do.
    pub fn tidy(&self) -> bool {
        let _turn = match self.tidying.try_lock() {
            Ok(turn) => turn,
            Err(TryLockError::Poisoned(turn)) => turn.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        let view = self.view.load_full();
        if view.fresh.len() >= FRESH {
            let entries: Vec<&Entry> = view.fresh.iter().map(Arc::as_ref).collect();
            let part = Part::of(Draft::of(entries));
            self.change(|now| now.settle(&view.fresh, part));
            return true;
        }
        let Some(chosen) = tidying::choose(&view.parts) else { return false };
        let sources: Vec<_> = chosen.iter().map(|one| one.part.source(&one.hidden)).collect();
        let part = Part::of(Draft::merged(&sources));
        self.change(|now| now.replace(&chosen, part));
        true
    }

    /// Whether [`Self::tidy`] has anything to do.
    #[must_use]
    pub fn wants_tidying(&self) -> bool {
        let view = self.view.load();
        view.fresh.len() >= FRESH || tidying::choose(&view.parts).is_some()
    }

    fn change(&self, change: impl FnOnce(&mut View)) {
        let _turn = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut view = View::clone(&self.view.load());
        change(&mut view);
        self.view.store(Arc::new(view));
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
