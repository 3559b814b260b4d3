//! Searching profiles: in an index that this instance keeps in memory, or by the storage engine, which also answers
//! until the index is there.
//!
//! The index learns of changes from the store alone, whoever made them: by a worker all the time, and by every search
//! before it looks, so that a search finds whatever was answered before it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwapOption;
use latchkey_domain::client::Client;
use latchkey_domain::page::Page;
use latchkey_domain::search::SearchQuery;
use latchkey_search::{Change, Entry, Index, Key};
use latchkey_store::{FeedPosition, FeedRead, ProfileHits, SearchChange, SearchEntry, Store};
use tokio::sync::Mutex;

use crate::error::Result;
use crate::service::Service;

mod loading;

/// How often a search is begun anew because a found profile has just gone.
const ATTEMPTS: u32 = 3;

/// What answers searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchEngine {
    /// An index in memory.
    #[default]
    Memory,
    /// The storage engine.
    Database,
}

/// The index, once it is there.
#[derive(Default)]
pub(crate) struct ProfileSearch {
    following: ArcSwapOption<Following>,
}

/// An index that follows the store.
struct Following {
    index: Arc<Index>,
    position: Mutex<FeedPosition>,
    /// Readings of the changes that were begun, and the number of the last that was ended.
    begun: AtomicU64,
    ended: AtomicU64,
}

/// Whether the index knows everything.
#[derive(PartialEq, Eq)]
enum Caught {
    Up,
    /// It was out of touch for too long and has to be made anew.
    Lost,
}

impl Service {
    /// Profiles that match, and how many there are.
    pub async fn search_profiles(
        &self,
        query: &SearchQuery,
        page: Page,
        client: &Client,
    ) -> Result<ProfileHits> {
        self.limits.take_public_read(client, self.clock.now())?;
        if let Some(following) = self.search.following.load_full()
            && let Some(hits) = self.search_index(&following, query, page).await?
        {
            return Ok(hits);
        }
        Ok(self.store.search_profiles(query, page).await?)
    }

    /// One step of keeping the index: makes it where there is none, takes over what changed, and keeps it quick.
    /// Does nothing where the storage engine searches.
    pub async fn follow_search(&self) -> Result<()> {
        if self.config.search_engine == SearchEngine::Database {
            return Ok(());
        }
        let following = match self.search.following.load_full() {
            Some(following) => following,
            None => self.load_search().await?,
        };
        match following.catch_up(&*self.store).await? {
            Caught::Up => loading::tidy(&following.index).await,
            Caught::Lost => self.search.forget(&following),
        }
        Ok(())
    }

    /// Whether searches are answered from memory.
    #[must_use]
    pub fn is_search_loaded(&self) -> bool {
        self.search.following.load().is_some()
    }

    async fn load_search(&self) -> Result<Arc<Following>> {
        let position = self.store.search_position().await?;
        let index = Arc::new(loading::load(&*self.store).await?);
        let following = Arc::new(Following {
            index,
            position: Mutex::new(position),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
        });
        if following.catch_up(&*self.store).await? == Caught::Up {
            self.search.following.store(Some(Arc::clone(&following)));
        }
        Ok(following)
    }

    /// `None` where the index was out of touch for too long.
    async fn search_index(
        &self,
        following: &Arc<Following>,
        query: &SearchQuery,
        page: Page,
    ) -> Result<Option<ProfileHits>> {
        let mut attempts = 0;
        loop {
            if following.catch_up(&*self.store).await? == Caught::Lost {
                self.search.forget(following);
                return Ok(None);
            }
            attempts += 1;
            let hits = following.index.search(query, page);
            let profiles = match hits.ids.as_slice() {
                [] => Vec::new(),
                ids => self.store.list_found_profiles(ids).await?,
            };
            if profiles.len() == hits.ids.len() || attempts == ATTEMPTS {
                return Ok(Some(ProfileHits { total: hits.total, profiles }));
            }
        }
    }
}

impl ProfileSearch {
    /// Searches are the storage engine's again, until a new index is there.
    fn forget(&self, lost: &Arc<Following>) {
        tracing::warn!("the search index was out of touch for too long and is made anew");
        self.following.rcu(|now| now.clone().filter(|now| !Arc::ptr_eq(now, lost)));
    }
}

impl Following {
    /// Takes over everything that was answered before this call. Callers that wait for each other share a reading
    /// that was begun after they came.
    async fn catch_up(&self, store: &dyn Store) -> Result<Caught> {
        let seen = self.begun.load(Ordering::SeqCst);
        let mut position = self.position.lock().await;
        if self.ended.load(Ordering::SeqCst) > seen {
            return Ok(Caught::Up);
        }
        let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        loop {
            match store.list_search_changes(&position).await? {
                FeedRead::Lost => return Ok(Caught::Lost),
                FeedRead::Changes { changes, position: reached, has_more } => {
                    if !changes.is_empty() {
                        self.index.apply(changes.into_iter().map(change_of));
                    }
                    *position = reached;
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
        SearchChange::Shown(entry) => Change::Show(entry_of(entry)),
        SearchChange::Hidden { id, created_at } => Change::Hide(Key { created_at, id }),
    }
}
