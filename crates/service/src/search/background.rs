//! Background work on the search index: merging segments, applying large numbers of changes, and freeing memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use latchkey_search::{Change, Index};
use latchkey_store::FeedPosition;
use tokio::sync::{OwnedMutexGuard, Semaphore};

use super::loading::{work, work_soon};

/// Number of merging threads. While one thread builds a large segment, the other merges small ones.
const TIDIERS: usize = 2;
/// Maximum number of changes applied on the calling task; more would block other tasks.
const FEW: usize = 128;

/// An index and the state of its background threads.
pub(super) struct BackgroundIndex {
    index: Arc<Index>,
    turns: Arc<Semaphore>,
    is_broken: Arc<AtomicBool>,
}

/// Guard that marks the index as broken if its thread panics, so that the index is rebuilt. Retrying the same change
/// would panic again.
struct Watch(Arc<AtomicBool>);

impl Drop for Watch {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::SeqCst);
        }
    }
}

impl BackgroundIndex {
    pub(super) fn new(index: Index) -> Self {
        Self {
            index: Arc::new(index),
            turns: Arc::new(Semaphore::new(TIDIERS)),
            is_broken: Arc::new(AtomicBool::new(false)),
        }
    }

    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    /// Returns true if a thread panicked while it changed the index, so that the index must be rebuilt.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::SeqCst)
    }

    /// Starts merging segments in the background, if necessary. Does not wait.
    pub(super) fn tidy(&self) {
        if self.is_broken() || !self.index.needs_merging() {
            return;
        }
        let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() else { return };
        let index = Arc::clone(&self.index);
        self.spawn("search-tidier", move || {
            let _turn = turn;
            while index.merge_step() {}
        });
    }

    /// Applies changes and advances the position in the store's change feed, atomically and even if the
    /// caller is cancelled. Returns the position; `None` if the index is broken.
    pub(super) async fn apply(
        &self,
        changes: Vec<Change>,
        mut position: OwnedMutexGuard<FeedPosition>,
        reached: FeedPosition,
    ) -> Option<OwnedMutexGuard<FeedPosition>> {
        if changes.is_empty() || changes.len() <= FEW && !self.index.is_memtable_full() {
            let _watch = Watch(Arc::clone(&self.is_broken));
            if !changes.is_empty() {
                self.index.apply(changes);
                self.tidy();
            }
            *position = reached;
            return Some(position);
        }
        let (index, watch) = (Arc::clone(&self.index), Watch(Arc::clone(&self.is_broken)));
        let taken = work_soon("search-follower", move || {
            let _watch = watch;
            index.apply(changes);
            *position = reached;
            position
        });
        let position = taken.ok()?.await.ok();
        self.tidy();
        position
    }

    /// Simulates a thread that panics while it changes the index.
    #[cfg(test)]
    pub(super) fn panic_in_background(&self) {
        let watch = Watch(Arc::clone(&self.is_broken));
        let broken = std::thread::spawn(move || {
            let _watch = watch;
            panic!("the test's own");
        });
        assert!(broken.join().is_err());
    }

    fn spawn(&self, name: &str, job: impl FnOnce() + Send + 'static) {
        let watch = Watch(Arc::clone(&self.is_broken));
        // If no thread can be started, the worker's next step tries again.
        let _ = work(name, move || {
            let _watch = watch;
            job();
        });
    }
}

impl Drop for BackgroundIndex {
    /// Frees the index in the background, because freeing a million profiles would delay the search that drops it.
    fn drop(&mut self) {
        let index = std::mem::take(&mut self.index);
        let _ = work("search-end", move || drop(index));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_in_background_breaks_the_index() {
        let index = BackgroundIndex::new(Index::default());
        let (begun, ended) = tokio::sync::oneshot::channel::<()>();
        index.spawn("fine", move || drop(begun));
        let _ = ended.await;
        assert!(!index.is_broken());

        let (begun, ended) = tokio::sync::oneshot::channel::<()>();
        let watch = Watch(Arc::clone(&index.is_broken));
        let answer = work("broken", move || {
            let _begun = begun;
            let _watch = watch;
            panic!("the test's own");
        });
        assert!(answer.unwrap().await.is_err() && ended.await.is_err());
        assert!(index.is_broken());
    }
}
