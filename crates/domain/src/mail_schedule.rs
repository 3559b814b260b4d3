//! Delivery schedule of outbox mails: at once, then with exponential backoff, and again when the lease of a
//! dead worker expires.

use std::time::Duration;

use crate::stored_time::{CLOCK_SKEW, is_implausible, latest_plausible};
use crate::time::Timestamp;

/// Largest exponent of the backoff; the longest delay is reached before.
pub const MOST_DOUBLINGS: u32 = 16;

/// Delays of the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailSchedule {
    /// Delay after the first failure; doubles with each further one.
    pub first: Duration,
    /// Longest delay.
    pub longest: Duration,
    /// Lease of a worker on claimed mails.
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

/// Scheduling state of a queued mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuedMail {
    /// Delivery attempts so far.
    pub attempts: u32,
    /// True while a worker holds a lease on it.
    pub is_leased: bool,
    /// Time of the next attempt.
    pub next_attempt_at: Timestamp,
}

/// Parameters of [`MailSchedule::is_due`] for an engine that decides in SQL. A mail is due if its next
/// attempt is at or before `now`, or implausibly late: beyond `leased` under a lease, beyond `new` if never
/// attempted, else beyond `new` plus `first_ms` doubled with each attempt after the first (at most
/// [`MOST_DOUBLINGS`] times, at most `longest_ms`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueTerms {
    /// Current time.
    pub now: Timestamp,
    /// Latest plausible time of a mail without attempts.
    pub new: Timestamp,
    /// Latest plausible end of a lease.
    pub leased: Timestamp,
    /// Longest delay after the first failure including jitter, in milliseconds.
    pub first_ms: i64,
    /// Longest delay of all including jitter, in milliseconds.
    pub longest_ms: i64,
}

impl MailSchedule {
    /// Delay after this many earlier failures: exponential, with a jitter of ±20 % by `fraction` in 0…1.
    #[must_use]
    pub fn backoff(&self, failures: u32, fraction: f64) -> Duration {
        self.doubled(failures).mul_f64(0.8 + 0.4 * fraction.clamp(0.0, 1.0))
    }

    /// True if a mail is to be sent now. A next attempt that only a clock that ran ahead can have written is
    /// due, too.
    #[must_use]
    pub fn is_due(&self, mail: &QueuedMail, now: Timestamp) -> bool {
        mail.next_attempt_at <= now || is_implausible(mail.next_attempt_at, self.longest_wait(mail), now)
    }

    /// Parameters for an engine that decides in SQL.
    #[must_use]
    pub fn due_terms(&self, now: Timestamp) -> DueTerms {
        DueTerms {
            now,
            new: now.plus(CLOCK_SKEW),
            leased: latest_plausible(self.lease, now),
            first_ms: millis(spread(self.first)),
            longest_ms: millis(spread(self.longest)),
        }
    }

    /// Longest possible delay between scheduling an attempt and its time.
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

/// A delay with maximal jitter, 20 %.
fn spread(wait: Duration) -> Duration {
    Duration::from_millis(spread_ms(wait))
}

fn spread_ms(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).saturating_mul(6).div_ceil(5)
}

fn millis(duration: Duration) -> i64 {
    Timestamp::default().plus(duration).as_millis()
}
