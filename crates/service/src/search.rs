//! Profile search: in an index in memory, or by the storage engine, which also answers until the index is loaded.
//!
//! The index follows the change feed of the store: a worker applies changes all the time, and every search does before it
//! reads, so that a search sees every change acknowledged before it. If that fails, the storage engine answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::ArcSwapOption;
use latchkey_domain::client::Client;
use latchkey_domain::ids::ProfileId;
use latchkey_domain::page::Page;
use latchkey_domain::search::SearchQuery;
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

/// Attempts of a search when a found profile was deleted meanwhile.
const ATTEMPTS: u32 = 3;

/// The engine that answers searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchEngine {
    /// An index in memory.
    #[default]
    Memory,
    /// The storage engine.
    Database,
}

/// The index, once it is loaded.
#[derive(Default)]
struct ProfileSearch {
    following: ArcSwapOption<Following>,
    backoff: Backoff,
}

/// An index that follows the store.
struct Following {
    index: BackgroundIndex,
    position: Arc<Mutex<FeedPosition>>,
    /// Reads of the change feed that began, and the number of the last that ended.
    begun: AtomicU64,
    ended: AtomicU64,
    /// The last read of the change feed failed.
    is_behind: AtomicBool,
}

/// Reader of the change feed. After a failure only the worker retries, so that searches do not queue behind it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    Search,
    Worker,
}

/// State of the index against the change feed.
#[derive(PartialEq, Eq)]
enum Caught {
    Up,
    /// Reading failed, and the worker has to catch up first.
    Behind,
    /// The feed no longer reaches back to it, or a thread panicked on it: it must be rebuilt.
    Lost,
}

/// The use cases of searches.
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

    /// Profiles that match, and how many there are.
    pub async fn find(&self, query: &SearchQuery, page: Page, client: &Client) -> Result<ProfileHits> {
        self.profiles.take_public_read(client.address)?;
        self.index.find(&*self.kernel.store, query, page).await
    }

    /// One step of following: builds the index if there is none, applies changes, merges segments. Does nothing if the
    /// storage engine searches.
    pub async fn follow(&self) -> Result<()> {
        match self.engine {
            SearchEngine::Memory => self.index.follow(&*self.kernel.store).await,
            SearchEngine::Database => Ok(()),
        }
    }

    /// Searches are answered from memory.
    #[must_use]
    pub fn is_loaded(&self) -> bool {
        self.index.is_loaded()
    }
}

impl ProfileSearch {
    fn is_loaded(&self) -> bool {
        self.following.load().is_some()
    }

    /// Searches the index, or the storage engine if the index is missing or behind.
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
        });
        match following.catch_up(store, Reader::Worker).await? {
            Caught::Up => self.following.store(Some(following)),
            Caught::Behind => {}
            Caught::Lost => self.backoff.record_failure("changes were purged while it was made"),
        }
        Ok(())
    }

    /// Searches the index; `None` if it is behind or lost.
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
        // Every reading after the first should have told that it is gone: the database was changed behind the feed.
        if missing.is_some_and(|missing| !missing.is_empty()) {
            self.forget(following);
        }
        Ok(None)
    }

    /// Drops the index; the storage engine searches until a new one is loaded.
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
    /// Applies every change acknowledged before this call. Single flight: concurrent callers share a read that began
    /// after they came.
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
