//! Work on the index beside requests: tidying, taking over many changes, and freeing an index.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use latchkey_search::{Change, Index};
use latchkey_store::FeedPosition;
use tokio::sync::{OwnedMutexGuard, Semaphore};

use super::loading::{work, work_soon};

/// Threads that tidy: while one makes a large part, another keeps the small ones few.
const TIDIERS: usize = 2;
/// So many changes are taken over where they were asked for; more would keep other tasks waiting.
const FEW: usize = 128;

/// An index, and who tidies it.
pub(super) struct Kept {
    index: Arc<Index>,
    turns: Arc<Semaphore>,
    is_broken: Arc<AtomicBool>,
}

/// Breaks the index where a thread panics at it: the same work would panic again.
struct Watch(Arc<AtomicBool>);

impl Drop for Watch {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::SeqCst);
        }
    }
}

impl Kept {
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

    /// Whether a thread panicked at it, so that it has to be made anew.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::SeqCst)
    }

    /// Sees to it that the index is tidied, if there is anything to do. Waits for nothing.
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

    /// Takes over changes, and with them the position that they reach; both happen, or neither, whether the caller
    /// goes on waiting or not. Answers the position, or nothing where the index is broken.
    pub(super) async fn take_over(
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

    /// What a thread does that panics at it.
    #[cfg(test)]
    pub(super) fn panic_beside(&self) {
        let watch = Watch(Arc::clone(&self.is_broken));
        let broken = std::thread::spawn(move || {
            let _watch = watch;
            panic!("the test's own");
        });
        assert!(broken.join().is_err());
    }

    fn spawn(&self, name: &str, job: impl FnOnce() + Send + 'static) {
        let watch = Watch(Arc::clone(&self.is_broken));
        // Where there is no thread, the next step of the worker tries again.
        let _ = work(name, move || {
            let _watch = watch;
            job();
        });
    }
}

impl Drop for Kept {
    /// Freeing what a million profiles take is long work too, and the last to let go may be a search.
    fn drop(&mut self) {
        let index = std::mem::take(&mut self.index);
        let _ = work("search-end", move || drop(index));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_beside_breaks_the_index() {
        let kept = Kept::new(Index::default());
        let (begun, ended) = tokio::sync::oneshot::channel::<()>();
        kept.spawn("fine", move || drop(begun));
        let _ = ended.await;
        assert!(!kept.is_broken());

        let (begun, ended) = tokio::sync::oneshot::channel::<()>();
        let watch = Watch(Arc::clone(&kept.is_broken));
        let answer = work("broken", move || {
            let _begun = begun;
            let _watch = watch;
            panic!("the test's own");
        });
        assert!(answer.unwrap().await.is_err() && ended.await.is_err());
        assert!(kept.is_broken());
    }
}
