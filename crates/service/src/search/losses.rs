//! How often the index was lost: one that is lost again and again is made anew after longer and longer pauses, in
//! which the storage engine searches. Counted in steps of the worker.

use std::sync::{Mutex, PoisonError};

/// Steps that are left out after the second loss; doubled by every other.
const FIRST_PAUSE: u32 = 8;
/// Steps that are left out at the most: five minutes.
const LONGEST_PAUSE: u32 = 1_024;
/// An index that held for so many steps was not lost for the same reason as the one before it.
const HELD: u32 = 1_024;

/// The losses of late.
#[derive(Default)]
pub(super) struct Losses(Mutex<State>);

#[derive(Default)]
struct State {
    losses: u32,
    pause: u32,
    held: u32,
}

impl Losses {
    /// Counts a loss, for this reason.
    pub(super) fn another(&self, reason: &str) {
        let losses = self.change(|state| {
            state.pause = pause_after(state.losses);
            state.losses = state.losses.saturating_add(1);
            state.held = 0;
            state.losses
        });
        tracing::warn!(losses, reason, "the search index is lost and is made anew");
    }

    /// Whether an index may be made now; a step of the pause otherwise.
    pub(super) fn is_time(&self) -> bool {
        self.change(|state| {
            let is_time = state.pause == 0;
            state.pause = state.pause.saturating_sub(1);
            is_time
        })
    }

    /// The index held for another step.
    pub(super) fn went_well(&self) {
        self.change(|state| {
            state.held = state.held.saturating_add(1);
            if state.held >= HELD {
                state.losses = 0;
            }
        });
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Steps to leave out where it was lost so often before.
fn pause_after(losses: u32) -> u32 {
    match losses {
        0 => 0,
        more => FIRST_PAUSE.saturating_mul(1 << (more - 1).min(16)).min(LONGEST_PAUSE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps_until_time(losses: &Losses) -> u32 {
        (0..2 * LONGEST_PAUSE).take_while(|_| !losses.is_time()).count().try_into().unwrap()
    }

    #[test]
    fn pauses_grow_with_every_loss_up_to_the_longest() {
        let losses = Losses::default();
        let pauses: Vec<u32> = (0..12)
            .map(|_| {
                losses.another("test");
                steps_until_time(&losses)
            })
            .collect();
        assert_eq!(pauses, [0, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_024, 1_024, 1_024]);
    }

    #[test]
    fn who_held_for_long_is_made_anew_at_once() {
        let losses = Losses::default();
        losses.another("test");
        for _ in 0..HELD {
            losses.went_well();
        }

        losses.another("test");
        assert_eq!(steps_until_time(&losses), 0);
    }
}
