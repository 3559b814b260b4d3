//! The pace of an import: a maximum rate, and pauses beside others who use the same SQLite file.

use std::time::Duration;

use tokio::time::Instant;

use super::run::LONGEST;

/// Pause after a batch beside others, in times of what the batch took, so that their reads do not wait: a thread of an import
/// keeps a core, and the disk, for milliseconds. With a maximum rate the pause is as long as the batch.
const GENTLE: u32 = 9;
/// Number of batches in a second of an import with a low maximum rate.
const BATCHES: usize = 4;

/// The pauses before batches.
pub(super) struct Pace {
    /// Maximum number of records per second.
    rate: Option<u32>,
    /// Time at which the last batch was begun; `None` before the first one.
    last: Option<Instant>,
    begun: Instant,
    /// End of the pause beside others.
    free_at: Instant,
}

impl Pace {
    pub(super) fn new(rate: Option<u32>) -> Self {
        let now = Instant::now();
        Self { rate: rate.map(|rate| rate.max(1)), last: None, begun: now, free_at: now }
    }

    /// Returns the number of records of a batch which the rate admits, at most `size`.
    pub(super) fn fitting(&self, size: usize) -> usize {
        let of_rate = self.rate.map_or(usize::MAX, |rate| rate as usize / BATCHES);
        size.min(of_rate.max(1))
    }

    /// Returns the time from which a batch may be written: that at which its last record is due. A batch that is late
    /// brings none of the next ones forward.
    pub(super) fn due(&self, count: usize) -> Instant {
        let Some(rate) = self.rate else { return self.free_at };
        let (from, count) = match self.last {
            Some(last) => (last, count),
            None => (self.begun, count.saturating_sub(1)),
        };
        let wait = Duration::from_micros(count as u64 * 1_000_000 / u64::from(rate));
        (from + wait).max(self.free_at)
    }

    /// Takes note of a batch that was begun then.
    pub(super) fn wrote(&mut self, begun: Instant, took: Duration, is_shared: bool) {
        self.last = Some(begun);
        // A batch that waited for a lock takes seconds.
        let beside = if self.rate.is_some() { took } else { took.min(LONGEST) * GENTLE };
        self.free_at = begun + took + if is_shared { beside } else { Duration::ZERO };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_take_at_least_as_long_as_the_rate_says() {
        for (rate, sizes) in
            [(50, vec![12; 20]), (1, vec![1, 1, 1]), (3, vec![1; 9]), (9_000, vec![2_000, 1])]
        {
            let mut pace = Pace::new(Some(rate));
            let start = pace.begun;
            let mut written = 0;
            for size in sizes {
                assert!(size <= pace.fitting(2_000));
                let due = pace.due(size);
                written += size;
                let least = Duration::from_micros((written as u64 - 1) * 1_000_000 / u64::from(rate));
                assert!(due - start + Duration::from_millis(1) >= least, "{rate}: {written}");
                pace.wrote(due, Duration::ZERO, false);
            }
        }
    }

    #[test]
    fn late_batch_brings_none_forward() {
        let mut pace = Pace::new(Some(100));
        let late = pace.due(25) + Duration::from_mins(1);
        pace.wrote(late, Duration::ZERO, false);
        assert_eq!(pace.due(25), late + Duration::from_millis(250));
    }

    #[test]
    fn import_beside_others_leaves_them_most_of_the_time() {
        for (rate, pause) in [(None, 90), (Some(1_000_000), 10)] {
            let mut pace = Pace::new(rate);
            let begun = pace.begun + Duration::from_secs(1);
            pace.wrote(begun, Duration::from_millis(10), true);
            assert_eq!(pace.due(1), begun + Duration::from_millis(10 + pause));
        }
    }
}
