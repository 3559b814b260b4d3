//! Plausibility of stored times. A clock that ran an hour ahead leaves times an hour in the future after its
//! correction; taken literally they would lock users out and delay mails for that hour.

use std::time::Duration;

use crate::time::Timestamp;

/// Tolerated clock skew between instances, and between the start of a request and its write.
pub const CLOCK_SKEW: Duration = Duration::from_mins(1);

/// Latest plausible stored time at `now`, if stored times lie at most `longest` after their writing.
#[must_use]
pub fn latest_plausible(longest: Duration, now: Timestamp) -> Timestamp {
    now.plus(longest).plus(CLOCK_SKEW)
}

/// True if a stored time is implausibly late: it was written before the clock stepped back.
#[must_use]
pub fn is_implausible(stored: Timestamp, longest: Duration, now: Timestamp) -> bool {
    stored > latest_plausible(longest, now)
}

/// The stored time, or `now` if it is implausibly late.
#[must_use]
pub fn plausible_or_now(stored: Timestamp, longest: Duration, now: Timestamp) -> Timestamp {
    if is_implausible(stored, longest, now) { now } else { stored }
}
