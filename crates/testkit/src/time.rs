//! Clock that tests set by hand, and durations for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use latchkey_domain::time::Timestamp;
use latchkey_service::clock::Clock;

/// Start time of every test: 2026-03-02T10:00:00.000Z, a Monday.
pub const START: Timestamp = Timestamp::from_millis(1_772_445_600_000);

/// Clock that a test sets by hand. Clones share the time.
#[derive(Debug, Clone)]
pub struct ManualClock {
    wall: Arc<AtomicI64>,
    steady: Arc<AtomicU64>,
}

impl ManualClock {
    /// Creates a clock that shows this time.
    #[must_use]
    pub fn at(time: Timestamp) -> Self {
        Self { wall: Arc::new(AtomicI64::new(time.as_millis())), steady: Arc::default() }
    }

    /// Advances the wall clock and the monotonic clock.
    pub fn advance(&self, by: Duration) {
        self.leap(by);
        self.steady.fetch_add(u64::try_from(millis(by)).unwrap(), Ordering::SeqCst);
    }

    /// Moves the wall clock forward without the monotonic clock.
    pub fn leap(&self, by: Duration) {
        self.wall.fetch_add(millis(by), Ordering::SeqCst);
    }

    /// Moves the wall clock back without the monotonic clock.
    pub fn step_back(&self, by: Duration) {
        self.wall.fetch_sub(millis(by), Ordering::SeqCst);
    }
}

impl Default for ManualClock {
    /// Creates a clock that shows [`START`].
    fn default() -> Self {
        Self::at(START)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.wall.load(Ordering::SeqCst))
    }

    fn steady(&self) -> Duration {
        Duration::from_millis(self.steady.load(Ordering::SeqCst))
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).expect("a duration of this millennium")
}

#[must_use]
pub const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

#[must_use]
pub const fn minutes(count: u64) -> Duration {
    seconds(count * 60)
}

#[must_use]
pub const fn hours(count: u64) -> Duration {
    minutes(count * 60)
}

/// Returns the duration of this many days of 24 hours.
#[must_use]
pub const fn days(count: u64) -> Duration {
    hours(count * 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_are_the_same_clock() {
        let clock = ManualClock::default();

        clock.clone().advance(minutes(11));

        assert_eq!(clock.now().to_rfc3339(), "2026-03-02T10:11:00.000Z");
    }
}
