//! Delivery schedule of mails in the outbox. A new mail is due at once, a failed one after an exponential backoff. A
//! mail that a crashed worker had claimed is due when the worker's lease ends.

use std::time::Duration;

use crate::id::id;
use crate::stored_time::{CLOCK_SKEW, is_implausible, latest_plausible};
use crate::time::Timestamp;

id! {
    /// Id of a mail in the outbox, and left part of its `Message-ID` header.
    MailId, "The id of the mail."
}

id! {
    /// Id of a worker's lease on claimed mails.
    LeaseId
}

/// Maximum number of doublings of the delay. With usual settings, [`MailSchedule::longest`] limits the delay earlier.
pub const MOST_DOUBLINGS: u32 = 16;

/// Delays between delivery attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailSchedule {
    /// Delay after the first failed attempt. It doubles with each further failure.
    pub first: Duration,
    /// Maximum delay between attempts, before jitter.
    pub longest: Duration,
    /// Length of a worker's lease on the mails that it claims.
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
    /// Number of delivery attempts so far, including one in progress.
    pub attempts: u32,
    /// True while a worker holds a lease on the mail.
    pub is_leased: bool,
    /// Time of the next attempt; under a lease, its end.
    pub next_attempt_at: Timestamp,
}

/// Parameters of [`MailSchedule::is_due`] for an engine that computes it in SQL. A mail is due if the time of its next
/// attempt is at or before `now`, or is implausibly late. The latest plausible time is `leased` for a leased mail and
/// `new` for a mail without attempts. After failed attempts it is `new` plus the maximum delay: `first_ms`, doubled
/// with each attempt after the first (at most [`MOST_DOUBLINGS`] times), but at most `longest_ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueTerms {
    /// Current time.
    pub now: Timestamp,
    /// Latest plausible time of the next attempt for a mail without attempts.
    pub new: Timestamp,
    /// Latest plausible end of a lease.
    pub leased: Timestamp,
    /// Maximum delay after the first failed attempt, with jitter, in milliseconds.
    pub first_ms: i64,
    /// Maximum delay between attempts, with jitter, in milliseconds.
    pub longest_ms: i64,
}

impl MailSchedule {
    /// Returns the delay after a failed attempt. `failures` is the number of failed attempts before it; the delay
    /// doubles with each. `fraction`, a random number from 0 to 1, selects the jitter of ±20 %.
    #[must_use]
    pub fn backoff(&self, failures: u32, fraction: f64) -> Duration {
        self.doubled(failures).mul_f64(0.8 + 0.4 * fraction.clamp(0.0, 1.0))
    }

    /// True if the mail should be sent now. A time of the next attempt that is implausibly late is ignored, because
    /// only a clock that ran ahead can have written it.
    #[must_use]
    pub fn is_due(&self, mail: &QueuedMail, now: Timestamp) -> bool {
        mail.next_attempt_at <= now || is_implausible(mail.next_attempt_at, self.longest_wait(mail), now)
    }

    /// Returns the parameters for an engine that computes in SQL.
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

    /// Returns the longest plausible time from the scheduling of the next attempt until that attempt.
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

/// Returns `wait` with the maximum jitter, which adds 20 %.
fn spread(wait: Duration) -> Duration {
    Duration::from_millis(spread_ms(wait))
}

fn spread_ms(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).saturating_mul(6).div_ceil(5)
}

fn millis(duration: Duration) -> i64 {
    Timestamp::default().plus(duration).as_millis()
}
