//! Detection of wall clock jumps. Rows must not be deleted by age after a jump: a clock that is a year ahead for a
//! minute would delete everything that expires within a year.

use std::time::Duration;

use crate::time::Timestamp;

/// Deviation from the monotonic clock between two samples that counts as a jump. NTP slewing stays far below it.
pub const JUMP: Duration = Duration::from_mins(1);
/// Period without a jump after which the wall clock is trusted again, so that an operator can correct a wrong jump.
pub const PROBATION: Duration = Duration::from_hours(1);

/// Monitor that detects jumps of the wall clock by comparison with the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockWatch {
    /// Reference for the comparison: wall time minus monotonic time in milliseconds, sampled at the monotonic time
    /// `taken_at`.
    offset_ms: i64,
    taken_at: Duration,
    /// Monotonic time before which the wall clock is not trusted.
    trusted_from: Duration,
}

/// Result of [`ClockWatch::sample`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockVerdict {
    /// The wall clock did not jump since the previous sample, and is trusted.
    Steady,
    /// The wall clock jumped since the previous sample, and is no longer trusted.
    Jumped {
        /// Size of the jump in milliseconds, negative for a backward jump.
        by_ms: i64,
    },
    /// The last jump is less than [`PROBATION`] ago, so the wall clock is not trusted yet.
    OnProbation,
    /// The clock is trusted again: this is the first sample after [`PROBATION`].
    Trusted,
}

impl ClockVerdict {
    /// True if the wall clock is trusted, so that rows may be deleted by age.
    #[must_use]
    pub const fn is_trusted(self) -> bool {
        matches!(self, Self::Steady | Self::Trusted)
    }
}

impl ClockWatch {
    /// Creates a monitor with these samples as its reference. `steady` is the monotonic time from any origin.
    #[must_use]
    pub fn new(wall: Timestamp, steady: Duration) -> Self {
        Self { offset_ms: offset(wall, steady), taken_at: steady, trusted_from: steady }
    }

    /// Compares new samples of both clocks with the reference. `steady` is the monotonic time from the same origin as
    /// in [`Self::new`].
    pub fn sample(&mut self, wall: Timestamp, steady: Duration) -> ClockVerdict {
        let offset_ms = offset(wall, steady);
        let by_ms = offset_ms.saturating_sub(self.offset_ms);
        let was_trusted = self.taken_at >= self.trusted_from;
        if by_ms.unsigned_abs() > u64::try_from(JUMP.as_millis()).unwrap_or(u64::MAX) {
            *self = Self { offset_ms, taken_at: steady, trusted_from: steady.saturating_add(PROBATION) };
            return ClockVerdict::Jumped { by_ms };
        }
        if steady < self.trusted_from {
            return ClockVerdict::OnProbation;
        }
        // Slow drift adds up over days, so the reference is renewed every hour.
        if !was_trusted || steady.saturating_sub(self.taken_at) >= PROBATION {
            (self.offset_ms, self.taken_at) = (offset_ms, steady);
        }
        if was_trusted { ClockVerdict::Steady } else { ClockVerdict::Trusted }
    }
}

fn offset(wall: Timestamp, steady: Duration) -> i64 {
    wall.minus(steady).as_millis()
}
