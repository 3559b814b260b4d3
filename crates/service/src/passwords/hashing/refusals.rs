//! Delays of the refusals that requests get while the hashing queue is full. Refusals are delayed only during a flood
//! of them: clients that retry at once must not use the processor time that queued hashes need.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The token bucket of refusals without delay: the number of tokens added per second, which is also the maximum in the
/// bucket.
const AT_ONCE: f64 = 1_000.0;
/// Delay of a refusal when the token bucket is empty: the minimum (`LEAST`), plus `EACH` for every refusal that is
/// already being delayed, at most `MOST`.
const LEAST: Duration = Duration::from_millis(250);
const EACH: Duration = Duration::from_millis(1);
const MOST: Duration = Duration::from_secs(1);

/// State of the delays: a token bucket that permits refusals without delay, and the number of refusals that are being
/// delayed.
pub(super) struct Refusals {
    /// The tokens in the bucket, and the time of this count.
    bucket: Mutex<(f64, Instant)>,
    kept: AtomicU32,
}

/// Guard of one delayed refusal, which is counted until the guard is dropped.
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

    /// Waits before a refusal is returned: usually not at all, during a flood of refusals up to a second.
    pub(super) async fn wait(&self) {
        if let Some((_kept, pause)) = self.begin(Instant::now()) {
            tokio::time::sleep(pause).await;
        }
    }

    /// Returns the delay of a refusal at `now`, with the guard that counts it; `None` for no delay.
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
