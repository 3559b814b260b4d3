//! Detection of jumps of the wall clock. Deletion by age must not run after a jump: a clock that leaps a year
//! ahead for a minute would delete everything that expires within a year.

use std::time::Duration;

use crate::time::Timestamp;

/// Drift from the monotonic clock between two samples that counts as a jump. NTP slewing stays far below it.
pub const JUMP: Duration = Duration::from_mins(1);
/// Time without a jump after which the wall clock is trusted again: long enough for a time service or an
/// operator to take a wrong step back.
pub const PROBATION: Duration = Duration::from_hours(1);

/// Compares the wall clock with the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockWatch {
    /// Reference: wall time minus monotonic time, and the monotonic time at which it was taken.
    offset_ms: i64,
    taken_at: Duration,
    /// Monotonic time before which the wall clock is not trusted.
    trusted_from: Duration,
}

/// Result of a sample of both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockVerdict {
    /// No jump since the last sample.
    Steady,
    /// The wall clock jumped since the last sample.
    Jumped {
        /// Size of the jump in milliseconds; negative if backwards.
        by_ms: i64,
    },
    /// A jump lies less than [`PROBATION`] back.
    OnProbation,
    /// The first sample after the probation.
    Trusted,
}

impl ClockVerdict {
    /// True if the wall clock may decide about deletions.
    #[must_use]
    pub const fn is_trusted(self) -> bool {
        matches!(self, Self::Steady | Self::Trusted)
    }
}

impl ClockWatch {
    /// Starts with both clocks as the reference. `steady` is the monotonic clock, from any origin.
    #[must_use]
    pub fn new(wall: Timestamp, steady: Duration) -> Self {
        Self { offset_ms: offset(wall, steady), taken_at: steady, trusted_from: steady }
    }

    /// Samples both clocks.
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
