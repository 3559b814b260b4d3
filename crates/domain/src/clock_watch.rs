//! Trust in the wall clock. What deletes by the time of day must not run while the clock has just jumped: a clock that
//! leaps ahead a year for a minute would take everything with it that ends within a year.

use std::time::Duration;

use crate::time::Timestamp;

/// The difference to the monotonic clock that is a jump. Slewing by NTP stays far below it between two looks.
pub const JUMP: Duration = Duration::from_mins(1);
/// How long the wall clock must go on steadily after a jump before it is trusted again. Long enough for a time service,
/// or a person, to take a wrong step back.
pub const PROBATION: Duration = Duration::from_hours(1);

/// The wall clock held against the monotonic one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockWatch {
    /// What the wall clock is compared with: the difference of both clocks, and when it was taken.
    offset_ms: i64,
    taken_at: Duration,
    /// By the monotonic clock; the wall clock is not trusted before it.
    trusted_from: Duration,
}

/// Verdict of a look at both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockVerdict {
    /// Both went on alike.
    Steady,
    /// The wall clock jumped by so many milliseconds since the last look.
    Jumped {
        /// Ahead, or back where it is negative.
        by_ms: i64,
    },
    /// It jumped before, and is not trusted yet.
    OnProbation,
    /// It has just come to be trusted again.
    Trusted,
}

impl ClockVerdict {
    /// Whether the time of day may decide what is deleted.
    #[must_use]
    pub const fn is_trusted(self) -> bool {
        matches!(self, Self::Steady | Self::Trusted)
    }
}

impl ClockWatch {
    /// Begins with both clocks as they are: `steady` is the monotonic one, from any origin.
    #[must_use]
    pub fn new(wall: Timestamp, steady: Duration) -> Self {
        Self { offset_ms: offset(wall, steady), taken_at: steady, trusted_from: steady }
    }

    /// Looks at both clocks.
    pub fn look(&mut self, wall: Timestamp, steady: Duration) -> ClockVerdict {
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
        // Drift adds up over days: it is compared within an hour.
        if !was_trusted || steady.saturating_sub(self.taken_at) >= PROBATION {
            (self.offset_ms, self.taken_at) = (offset_ms, steady);
        }
        if was_trusted { ClockVerdict::Steady } else { ClockVerdict::Trusted }
    }
}

fn offset(wall: Timestamp, steady: Duration) -> i64 {
    wall.minus(steady).as_millis()
}
