//! Profile search in an index in memory. The database searches instead if the operator configured that, while
//! the index is not built yet, and while it lacks recent changes.
//!
//! The index is kept up to date from the store's feed of profile changes. A worker applies changes
//! continuously, and every search applies them before it reads, so that a search sees every change
//! acknowledged before it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use latchkey_domain::client::Client;
use latchkey_domain::ids::ProfileId;
use latchkey_domain::page::Page;
use latchkey_domain::search::SearchQuery;
use latchkey_metrics::Stopwatch;
use latchkey_search::{Change, Entry, Key};
use latchkey_store::{FeedPosition, FeedRead, ProfileHits, SearchChange, SearchEntry, Store};
use tokio::sync::Mutex;

use crate::error::Result;
use crate::kernel::Kernel;
use crate::profiles::Profiles;

mod background;
mod backoff;
mod loading;

#[cfg(test)]
mod tests;

use background::BackgroundIndex;
use backoff::Backoff;

/// Maximum number of attempts of a search. It is repeated if a found profile was deleted before its row was read.
const ATTEMPTS: u32 = 3;

/// The engine that runs searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchEngine {
    /// An index in the memory of this process.
    #[default]
    Memory,
    /// A query of the database.
    Database,
}

/// The index, if it is loaded, and the backoff between builds of it.
#[derive(Default)]
struct ProfileSearch {
    following: ArcSwapOption<Following>,
    backoff: Backoff,
}

/// A loaded index that is kept up to date from the store's feed of profile changes, and its position in that
/// feed.
struct Following {
    index: BackgroundIndex,
    position: Arc<Mutex<FeedPosition>>,
    /// Number of reads of the change feed that have started. Reads are numbered, so that a caller can wait for one that
    /// began after its call.
    begun: AtomicU64,
    ended: AtomicU64,
    /// True if the last read of the change feed failed.
    is_behind: AtomicBool,
    /// Time since the index had every change.
    complete_since: ArcSwap<Stopwatch>,
}

/// Kind of caller that reads the change feed. After a failed read only the worker tries again: otherwise searches would
/// wait for a read that fails again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    Search,
    Worker,
}

/// State of the index after an attempt to read the change feed.
#[derive(PartialEq, Eq)]
enum Caught {
    Up,
    /// A read of the change feed failed, so the index may lack changes. The worker retries the read.
    Behind,
    /// The index must be rebuilt: the feed no longer has the changes after the index's position, or a thread panicked
    /// while it changed the index.
    Lost,
}

pub struct Search {
    kernel: Arc<Kernel>,
    profiles: Arc<Profiles>,
    engine: SearchEngine,
    index: ProfileSearch,
}

impl Search {
    pub(crate) fn new(kernel: Arc<Kernel>, profiles: Arc<Profiles>, engine: SearchEngine) -> Self {
        Self { kernel, profiles, engine, index: ProfileSearch::default() }
    }

    /// Returns a page of the profiles that match, and their total number.
    pub async fn find(&self, query: &SearchQuery, page: Page, client: &Client) -> Result<ProfileHits> {
        self.profiles.take_public_read(client.address)?;
        self.index.find(&*self.kernel.store, query, page).await
    }

    /// Runs one step of the search worker: loads the index if there is none, applies the change feed, merges segments.
    /// It does nothing if the database is configured as the search engine.
    pub async fn follow(&self) -> Result<()> {
        match self.engine {
            SearchEngine::Memory => self.index.follow(&*self.kernel.store).await,
            SearchEngine::Database => Ok(()),
        }
    }

    /// Returns the number of profiles in the index, and the time since it had every change; `None` without an index.
    pub(crate) fn index_state(&self) -> Option<(u64, Duration)> {
        let following = self.index.following.load_full()?;
        Some((following.index.index().profiles(), following.complete_since.load().elapsed()))
    }

    /// Returns true if the index is loaded, so that searches use it.
    #[must_use]
    pub fn is_loaded(&self) -> bool {
        self.index.is_loaded()
    }
}

impl ProfileSearch {
    fn is_loaded(&self) -> bool {
        self.following.load().is_some()
    }

    /// Searches the index, or the database if the index is missing or behind.
    async fn find(&self, store: &dyn Store, query: &SearchQuery, page: Page) -> Result<ProfileHits> {
        if let Some(following) = self.following.load_full()
            && let Some(hits) = self.find_in(&following, store, query, page).await?
        {
            return Ok(hits);
        }
        Ok(store.search_profiles(query, page).await?)
    }

    async fn follow(&self, store: &dyn Store) -> Result<()> {
        let Some(following) = self.following.load_full() else {
            return if self.backoff.has_elapsed() { self.load(store).await } else { Ok(()) };
        };
        match following.catch_up(store, Reader::Worker).await? {
            Caught::Up => {
                self.backoff.record_success();
                following.index.tidy();
            }
            Caught::Behind => {}
            Caught::Lost => self.forget(&following),
        }
        Ok(())
    }

    async fn load(&self, store: &dyn Store) -> Result<()> {
        let position = store.search_position().await?;
        let following = Arc::new(Following {
            index: BackgroundIndex::new(loading::load(store).await?),
            position: Arc::new(Mutex::new(position)),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            is_behind: AtomicBool::new(false),
            complete_since: ArcSwap::from_pointee(Stopwatch::start()),
        });
        match following.catch_up(store, Reader::Worker).await? {
            Caught::Up => self.following.store(Some(following)),
            Caught::Behind => {}
            Caught::Lost => self.backoff.record_failure("changes were purged while it was made"),
        }
        Ok(())
    }

    /// Searches the index; `None` if the database must search instead.
    async fn find_in(
        &self,
        following: &Arc<Following>,
        store: &dyn Store,
        query: &SearchQuery,
        page: Page,
    ) -> Result<Option<ProfileHits>> {
        let mut missing: Option<Vec<ProfileId>> = None;
        for _ in 0..ATTEMPTS {
            match following.catch_up(store, Reader::Search).await {
                Ok(Caught::Up) => {}
                Ok(Caught::Behind) => return Ok(None),
                Ok(Caught::Lost) => {
                    self.forget(following);
                    return Ok(None);
                }
                Err(error) => {
                    tracing::warn!(%error, "the changes for a search could not be read: the storage engine searches");
                    return Ok(None);
                }
            }
            let hits = following.index.index().search(query, page);
            let profiles = match hits.ids.as_slice() {
                [] => Vec::new(),
                ids => store.list_found_profiles(ids).await?,
            };
            if profiles.len() == hits.ids.len() {
                return Ok(Some(ProfileHits { total: hits.total, profiles }));
            }
            let is_gone = |id: &ProfileId| profiles.iter().all(|profile| profile.id != *id);
            let was_missing = |id: &ProfileId| missing.as_ref().is_none_or(|missing| missing.contains(id));
            missing = Some(hits.ids.into_iter().filter(|id| is_gone(id) && was_missing(id)).collect());
        }
        // If a profile is missing in every attempt, the database was changed without the feed, which would have removed
        // it from the index.
        if missing.is_some_and(|missing| !missing.is_empty()) {
            self.forget(following);
        }
        Ok(None)
    }

    /// Drops the index. The database searches until a new one is loaded.
    fn forget(&self, lost: &Arc<Following>) {
        let before = self.following.rcu(|now| now.clone().filter(|now| !Arc::ptr_eq(now, lost)));
        if before.is_some_and(|before| Arc::ptr_eq(&before, lost)) {
            self.backoff.record_failure(
                "it was out of touch for too long, or the database is not the one that it knew",
            );
        }
    }
}

impl Following {
    /// Applies to the index every change that the database acknowledged before this call. Concurrent callers share one
    /// read of the change feed, if it started after their calls.
    async fn catch_up(&self, store: &dyn Store, reader: Reader) -> Result<Caught> {
        let seen = self.begun.load(Ordering::SeqCst);
        let is_hopeless = || reader == Reader::Search && self.is_behind.load(Ordering::SeqCst);
        if is_hopeless() {
            return Ok(Caught::Behind);
        }
        if self.index.is_broken() {
            return Ok(Caught::Lost);
        }
        let mut position = Arc::clone(&self.position).lock_owned().await;
        if self.ended.load(Ordering::SeqCst) > seen {
            return Ok(Caught::Up);
        }
        if is_hopeless() {
            return Ok(Caught::Behind);
        }
        let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let watch = Stopwatch::start();
        loop {
            let read = store.list_search_changes(&position).await;
            self.is_behind.store(read.is_err(), Ordering::SeqCst);
            match read? {
                FeedRead::Lost => return Ok(Caught::Lost),
                FeedRead::Changes { changes, position: reached, has_more } => {
                    let changes = changes.into_iter().map(change_of).collect();
                    let Some(taken) = self.index.apply(changes, position, reached).await else {
                        return Ok(Caught::Lost);
                    };
                    position = taken;
                    if !has_more {
                        self.ended.store(number, Ordering::SeqCst);
                        self.complete_since.store(Arc::new(watch));
                        return Ok(Caught::Up);
                    }
                }
            }
        }
    }
}

fn entry_of(entry: SearchEntry) -> Entry {
    Entry { key: Key { created_at: entry.created_at, id: entry.id }, text: entry.text }
}

fn change_of(change: SearchChange) -> Change {
    match change {
        SearchChange::Shown(entry) => Change::Upsert(entry_of(entry)),
        SearchChange::Hidden { id, created_at } => Change::Remove(Key { created_at, id }),
    }
}
