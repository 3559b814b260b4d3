//! When a mail is tried: at once, again after a backoff that doubles, and after the lease of a worker that died.

use std::time::Duration;

use crate::stored_time::{CLOCK_SKEW, is_from_ahead, latest_believed};
use crate::time::Timestamp;

/// Doublings of the backoff that are counted; the longest wait is reached before.
pub const MOST_DOUBLINGS: u32 = 16;

/// The waits of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailSchedule {
    /// The backoff after the first failure; doubles with each further one.
    pub first: Duration,
    /// The longest backoff.
    pub longest: Duration,
    /// How long a worker holds the mails that it claimed.
    pub lease: Duration,
}

impl Default for MailSchedule {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(5),
            longest: Duration::from_hours(1),
            lease: Duration::from_mins(1),
        }
    }
}

/// State of a queued mail that decides when it is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuedMail {
    /// Tries so far.
    pub attempts: u32,
    /// Whether a worker claimed it and did not settle it.
    pub is_leased: bool,
    /// When it is tried next.
    pub next_attempt_at: Timestamp,
}

/// The rule of [`MailSchedule::is_due`] in numbers, for an engine that lets its database look: a mail is due at `now` and
/// before, and beyond `leased` (under a lease), `new` (never tried), or else `new` and `first_ms` doubled with each try
/// after the first ([`MOST_DOUBLINGS`] times at most), `longest_ms` at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueTerms {
    /// The time.
    pub now: Timestamp,
    /// The latest believed time of a mail that was never tried.
    pub new: Timestamp,
    /// The latest believed end of a lease.
    pub leased: Timestamp,
    /// The longest wait after the first failure, in milliseconds.
    pub first_ms: i64,
    /// The longest wait of all, in milliseconds.
    pub longest_ms: i64,
}

impl MailSchedule {
    /// The backoff after so many failures before this one: doubled by each, and a fifth more or less by `fraction`, from
    /// 0 to 1.
    #[must_use]
    pub fn backoff(&self, failures: u32, fraction: f64) -> Duration {
        self.doubled(failures).mul_f64(0.8 + 0.4 * fraction.clamp(0.0, 1.0))
    }

    /// Whether a queued mail is to be sent now. A next attempt that no sound clock can have written is one that a clock
    /// wrote which ran ahead: it is due.
    #[must_use]
    pub fn is_due(&self, mail: &QueuedMail, now: Timestamp) -> bool {
        mail.next_attempt_at <= now || is_from_ahead(mail.next_attempt_at, self.longest_wait(mail), now)
    }

    /// The rule in numbers.
    #[must_use]
    pub fn due_terms(&self, now: Timestamp) -> DueTerms {
        DueTerms {
            now,
            new: now.plus(CLOCK_SKEW),
            leased: latest_believed(self.lease, now),
            first_ms: millis(spread(self.first)),
            longest_ms: millis(spread(self.longest)),
        }
    }

    /// The longest time between writing a mail's next attempt and that attempt.
    fn longest_wait(&self, mail: &QueuedMail) -> Duration {
        match mail.attempts {
            _ if mail.is_leased => self.lease,
            0 => Duration::ZERO,
            tries => Duration::from_millis(
                spread_ms(self.first)
                    .saturating_mul(1 << (tries - 1).min(MOST_DOUBLINGS))
                    .min(spread_ms(self.longest)),
            ),
        }
    }

    fn doubled(&self, failures: u32) -> Duration {
        self.first.saturating_mul(1 << failures.min(MOST_DOUBLINGS)).min(self.longest)
    }
}

/// A wait at its longest: a fifth more.
fn spread(wait: Duration) -> Duration {
    Duration::from_millis(spread_ms(wait))
}

fn spread_ms(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).saturating_mul(6).div_ceil(5)
}

fn millis(duration: Duration) -> i64 {
    Timestamp::default().plus(duration).as_millis()
}
