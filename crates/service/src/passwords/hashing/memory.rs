//! Limit on the memory that all hashing threads together use for hashes from elsewhere.

use std::sync::{Condvar, Mutex, PoisonError};

/// Memory in bytes that is still free for checks.
pub(super) struct Memory {
    limit: usize,
    free: Mutex<usize>,
    freed: Condvar,
}

/// Share of the memory, which is free again after a drop.
pub(super) struct Share<'a> {
    memory: &'a Memory,
    bytes: usize,
}

impl Memory {
    pub(super) const fn new(limit: usize) -> Self {
        Self { limit, free: Mutex::new(limit), freed: Condvar::new() }
    }

    /// Waits until this many bytes are free, and takes them. A request above the limit takes all of it.
    pub(super) fn take(&self, bytes: usize) -> Share<'_> {
        let bytes = bytes.min(self.limit);
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free =
            self.freed.wait_while(free, |free| *free < bytes).unwrap_or_else(PoisonError::into_inner);
        *free -= bytes;
        Share { memory: self, bytes }
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        let mut free = self.memory.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free += self.bytes;
        self.memory.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn threads_never_hold_more_than_the_limit() {
        let memory = Memory::new(100);
        let held = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (memory, held) = (&memory, &held);
                scope.spawn(move || {
                    for round in 0..200 {
                        let bytes = 10 + (thread * 31 + round * 7) % 90;
                        let share = memory.take(bytes);
                        assert!(held.fetch_add(bytes, Ordering::SeqCst) + bytes <= 100);
                        held.fetch_sub(bytes, Ordering::SeqCst);
                        drop(share);
                    }
                });
            }
        });
        assert_eq!(*memory.free.lock().unwrap_or_else(PoisonError::into_inner), 100);
    }

    #[test]
    fn a_request_above_the_limit_is_served_alone() {
        let memory = Memory::new(100);
        assert_eq!(memory.take(1_000).bytes, 100);
        assert_eq!(memory.take(40).bytes, 40);
    }
}
