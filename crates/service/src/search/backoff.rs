//! Exponential backoff between builds of the search index, counted in steps of the search worker. Meanwhile the
//! database searches.

use std::sync::{Mutex, PoisonError};

/// Number of worker steps skipped after the second failure. It doubles with each further failure.
const FIRST_PAUSE: u32 = 8;
/// Maximum number of worker steps skipped, about five minutes.
const LONGEST_PAUSE: u32 = 1_024;
/// Number of consecutive worker steps without a failure after which the count of failures is reset.
const HELD: u32 = 1_024;

/// The backoff state after recent failures of the index.
#[derive(Default)]
pub(super) struct Backoff(Mutex<State>);

#[derive(Default)]
struct State {
    failures: u32,
    pause: u32,
    held: u32,
}

impl Backoff {
    pub(super) fn record_failure(&self, reason: &str) {
        let failures = self.change(|state| {
            state.pause = pause_after(state.failures);
            state.failures = state.failures.saturating_add(1);
            state.held = 0;
            state.failures
        });
        tracing::warn!(failures, reason, "the search index was dropped and will be rebuilt");
    }

    /// Returns `true` if the backoff has elapsed; otherwise counts one step of it.
    pub(super) fn has_elapsed(&self) -> bool {
        self.change(|state| {
            let is_time = state.pause == 0;
            state.pause = state.pause.saturating_sub(1);
            is_time
        })
    }

    /// Records a step of the worker without a failure.
    pub(super) fn record_success(&self) {
        self.change(|state| {
            state.held = state.held.saturating_add(1);
            if state.held >= HELD {
                state.failures = 0;
            }
        });
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the number of worker steps to skip after a failure, if there were `failures` before it.
fn pause_after(failures: u32) -> u32 {
    match failures {
        0 => 0,
        more => FIRST_PAUSE.saturating_mul(1 << (more - 1).min(16)).min(LONGEST_PAUSE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps_until_time(backoff: &Backoff) -> u32 {
        (0..2 * LONGEST_PAUSE).take_while(|_| !backoff.has_elapsed()).count().try_into().unwrap()
    }

    #[test]
    fn pauses_grow_with_every_loss_up_to_the_longest() {
        let backoff = Backoff::default();
        let pauses: Vec<u32> = (0..12)
            .map(|_| {
                backoff.record_failure("test");
                steps_until_time(&backoff)
            })
            .collect();
        assert_eq!(pauses, [0, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_024, 1_024, 1_024]);
    }

    #[test]
    fn who_held_for_long_is_made_anew_at_once() {
        let backoff = Backoff::default();
        backoff.record_failure("test");
        for _ in 0..HELD {
            backoff.record_success();
        }

        backoff.record_failure("test");
        assert_eq!(steps_until_time(&backoff), 0);
    }
}
