//! Plausibility of stored times. A clock that runs an hour ahead writes times that are an hour too late. Once the
//! clock is corrected, these times would lock users out and delay mails for an hour, so they are ignored.

use std::time::Duration;

use crate::time::Timestamp;

/// Tolerated clock skew between instances, which also covers the time between the start of a request and its write.
pub const CLOCK_SKEW: Duration = Duration::from_mins(1);

/// Returns the latest plausible value of a stored time, if such times are at most `longest` after the time of writing.
#[must_use]
pub fn latest_plausible(longest: Duration, now: Timestamp) -> Timestamp {
    now.plus(longest).plus(CLOCK_SKEW)
}

/// True if a stored time is too late to be plausible: a clock that ran ahead wrote it.
#[must_use]
pub fn is_implausible(stored: Timestamp, longest: Duration, now: Timestamp) -> bool {
    stored > latest_plausible(longest, now)
}

/// Returns the stored time, or `now` if the stored time is too late to be plausible.
#[must_use]
pub fn plausible_or_now(stored: Timestamp, longest: Duration, now: Timestamp) -> Timestamp {
    if is_implausible(stored, longest, now) { now } else { stored }
}
