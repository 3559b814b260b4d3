//! Times that a clock wrote which ran ahead. A clock that is an hour ahead writes rows that lie an hour in the future
//! when it is corrected; taken at their word they would lock people out and hold mails back for that hour.

use std::time::Duration;

use crate::time::Timestamp;

/// The difference between the clocks of two instances that is tolerated: a time that is so little ahead is that of a
/// request that began earlier and came later, or of another instance.
pub const CLOCK_SKEW: Duration = Duration::from_mins(1);

/// The latest time that a sound clock can have stored by `now`, where what is stored lies at most `longest` after the
/// moment of its writing.
#[must_use]
pub fn latest_believed(longest: Duration, now: Timestamp) -> Timestamp {
    now.plus(longest).plus(CLOCK_SKEW)
}

/// Whether a stored time was written before the clock stepped back: it lies further ahead than any can that was written
/// by `now`.
#[must_use]
pub fn is_from_ahead(stored: Timestamp, longest: Duration, now: Timestamp) -> bool {
    stored > latest_believed(longest, now)
}

/// The stored time, or `now` where it was written before the clock stepped back.
#[must_use]
pub fn believed(stored: Timestamp, longest: Duration, now: Timestamp) -> Timestamp {
    if is_from_ahead(stored, longest, now) { now } else { stored }
}
