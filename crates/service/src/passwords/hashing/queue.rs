//! Bounded queue of jobs for several threads. A thread that gets no job for a while is told so, and can free its memory.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The queue. Dropping the last [`Taker`] closes it.
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    capacity: usize,
}

struct State<T> {
    jobs: VecDeque<T>,
    takers: usize,
    is_closed: bool,
}

/// The end of the queue that a thread holds.
pub(super) struct Taker<T>(Arc<Queue<T>>);

/// What a thread that asked for a job gets.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<T> {
    Job(T),
    /// There was no job in the given time.
    Idle,
    Closed,
}

/// Why a job was not queued.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotQueued<T> {
    Full(T),
    Closed,
}

impl<T> Queue<T> {
    pub(super) fn new(capacity: usize) -> Arc<Self> {
        let state = State { jobs: VecDeque::new(), takers: 0, is_closed: false };
        Arc::new(Self { state: Mutex::new(state), changed: Condvar::new(), capacity })
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of queued jobs, and the most that may be queued.
    pub(super) fn fill(&self) -> (usize, usize) {
        (self.state().jobs.len(), self.capacity)
    }

    pub(super) fn push(&self, job: T) -> Result<(), NotQueued<T>> {
        let mut state = self.state();
        if state.is_closed {
            return Err(NotQueued::Closed);
        }
        if state.jobs.len() >= self.capacity {
            return Err(NotQueued::Full(job));
        }
        state.jobs.push_back(job);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// Ends all threads after the queued jobs.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }
}

impl<T> Taker<T> {
    pub(super) fn of(queue: &Arc<Queue<T>>) -> Self {
        queue.state().takers += 1;
        Self(Arc::clone(queue))
    }

    /// Waits for the next job, at most for `patience`; without a limit if it is `None`.
    pub(super) fn next(&self, patience: Option<Duration>) -> Next<T> {
        let state = self.0.state();
        let has_nothing = |state: &mut State<T>| state.jobs.is_empty() && !state.is_closed;
        let mut state = match patience {
            None => self.0.changed.wait_while(state, has_nothing).unwrap_or_else(PoisonError::into_inner),
            Some(patience) => {
                let waited = self.0.changed.wait_timeout_while(state, patience, has_nothing);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        match state.jobs.pop_front() {
            Some(job) => Next::Job(job),
            None if state.is_closed => Next::Closed,
            None => Next::Idle,
        }
    }
}

impl<T> Drop for Taker<T> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.takers -= 1;
        if state.takers == 0 {
            // No thread is left to do them: whoever waits for a job learns it.
            state.is_closed = true;
            state.jobs.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(1);

    #[test]
    fn jobs_come_in_their_order() {
        let queue = Queue::new(2);
        let taker = Taker::of(&queue);
        assert_eq!((queue.push(1), queue.push(2)), (Ok(()), Ok(())));
        assert_eq!(queue.push(3), Err(NotQueued::Full(3)));
        assert_eq!((taker.next(None), taker.next(None)), (Next::Job(1), Next::Job(2)));
    }

    #[test]
    fn every_idle_thread_is_told_so() {
        let queue = Queue::<u8>::new(1);
        let takers = [Taker::of(&queue), Taker::of(&queue)];
        let told = std::thread::scope(|scope| {
            let threads = takers.map(|taker| scope.spawn(move || (taker.next(Some(SOON)), taker)));
            threads.map(|thread| thread.join().unwrap())
        });
        assert!(told.iter().all(|(next, _)| *next == Next::Idle));
    }

    #[test]
    fn closed_queue_is_emptied_first() {
        let queue = Queue::new(1);
        let taker = Taker::of(&queue);
        queue.push(1).unwrap();
        queue.close();
        assert_eq!((taker.next(None), taker.next(None)), (Next::Job(1), Next::Closed));
        assert_eq!(queue.push(2), Err(NotQueued::Closed));
    }

    #[test]
    fn jobs_without_a_thread_are_dropped() {
        let queue = Queue::new(1);
        let taker = Taker::of(&queue);
        let job = Arc::new(());
        queue.push(Arc::clone(&job)).unwrap();
        drop(taker);
        assert_eq!((Arc::strong_count(&job), queue.push(job)), (1, Err(NotQueued::Closed)));
    }
}
