//! Delay of refusals while the queue is full: none, but for a flood. Clients that retry at once must not take the
//! processor from those whose passwords are being hashed.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Refusals in a second that are given at once, and as many out of the blue.
const AT_ONCE: f64 = 1_000.0;
/// Delay of the others: at least, per other delayed refusal, and at most.
const LEAST: Duration = Duration::from_millis(250);
const EACH: Duration = Duration::from_millis(1);
const MOST: Duration = Duration::from_secs(1);

/// The refusals of a moment.
pub(super) struct Refusals {
    /// Tokens for refusals without delay, and the time of their count.
    bucket: Mutex<(f64, Instant)>,
    kept: AtomicU32,
}

/// One that is kept, until it is dropped.
struct Kept<'a>(&'a AtomicU32);

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Refusals {
    pub(super) fn new() -> Self {
        Self { bucket: Mutex::new((AT_ONCE, Instant::now())), kept: AtomicU32::new(0) }
    }

    /// Waits until the next refusal may be given: not at all, or up to a second where there is a flood of them.
    pub(super) async fn wait(&self) {
        if let Some((_kept, pause)) = self.begin(Instant::now()) {
            tokio::time::sleep(pause).await;
        }
    }

    /// The delay of a refusal that comes now; `None` for none.
    fn begin(&self, now: Instant) -> Option<(Kept<'_>, Duration)> {
        if self.take(now) {
            return None;
        }
        let others = self.kept.fetch_add(1, Ordering::Relaxed);
        Some((Kept(&self.kept), (LEAST + EACH * others).min(MOST)))
    }

    fn take(&self, now: Instant) -> bool {
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, counted_at) = *bucket;
        let left = (left + now.duration_since(counted_at).as_secs_f64() * AT_ONCE).min(AT_ONCE);
        let may = left >= 1.0;
        *bucket = (if may { left - 1.0 } else { left }, now.max(counted_at));
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_thousand_in_a_second_are_refused_at_once() {
        let refusals = Refusals::new();
        let begun = Instant::now();
        for second in 0..5 {
            let now = begun + SECOND * second;
            assert!((0..1_000).all(|_| refusals.begin(now).is_none()));
        }
    }

    #[test]
    fn a_flood_is_kept_waiting_up_to_a_second() {
        let refusals = Refusals::new();
        let now = Instant::now();
        let kept: Vec<_> = (0..20_000).filter_map(|_| refusals.begin(now)).collect();
        assert_eq!(kept.len(), 19_000);
        assert!(kept.iter().all(|(_, pause)| (LEAST..=MOST).contains(pause)));
        assert!(kept.iter().filter(|(_, pause)| *pause == MOST).count() > 18_000);

        drop(kept);
        assert!((0..1_000).all(|_| refusals.begin(now + SECOND).is_none()), "and it is over");
    }

    #[test]
    fn a_refusal_that_nobody_waits_for_delays_no_other() {
        let refusals = Refusals::new();
        let now = Instant::now();
        let pauses: Vec<_> = (0..3_000).filter_map(|_| refusals.begin(now)).map(|(_, pause)| pause).collect();
        assert!(pauses.len() == 2_000 && pauses.iter().all(|pause| *pause == LEAST));
    }
}
