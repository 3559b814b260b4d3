//! Rate limits (token buckets) and failure counters: arithmetic on small states, the same for all engines.

use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::stored_time::{is_implausible, latest_plausible, plausible_or_now};
use crate::time::Timestamp;

/// Rate of a token bucket, which holds `burst` tokens and refills at a constant rate within `window`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Capacity of the bucket in tokens.
    pub burst: u32,
    /// Time in which an empty bucket becomes full.
    pub window: Duration,
}

impl Rate {
    /// Creates a rate of `burst` tokens per this number of seconds.
    #[must_use]
    pub const fn per(burst: u32, seconds: u64) -> Self {
        Self { burst, window: Duration::from_secs(seconds) }
    }
}

/// Key of a token bucket or failure counter: a hash, so that no IP or email address is stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LimitKey([u8; 16]);

impl LimitKey {
    /// Derives the key from the limit's name and its subject (IP address, account or both): SHA-256 over the parts,
    /// each preceded by its length, truncated to 16 bytes.
    #[must_use]
    pub fn new(limit: &str, subject: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in std::iter::once(&limit).chain(subject) {
            hash.update(u64::try_from(part.len()).unwrap_or_default().to_be_bytes());
            hash.update(part.as_bytes());
        }
        let mut key = [0; 16];
        key.copy_from_slice(&hash.finalize()[..16]);
        Self(key)
    }

    /// Restores a stored key.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes to be stored.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// A request for one token of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Take {
    /// Key of the bucket.
    pub key: LimitKey,
    /// Capacity and refill time of the bucket.
    pub rate: Rate,
    /// Name of the limit, for the error message of a refusal.
    pub limit: &'static str,
}

/// Refusal by a rate limit or failure counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limited {
    /// Name of the limit, for the error message.
    pub limit: &'static str,
    /// Time until a retry may succeed, for `Retry-After`.
    pub retry_after: Duration,
}

/// Parameters of [`Take::take`] for an engine that computes it in SQL. A state is the time at which the bucket will be
/// full. The previous state counts as `now` if it is absent or later than `plausible`. The new state is the previous
/// one, clamped to `now`…`latest`, plus `token_ms`. The token is granted if the new state is at most `most`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakeTerms {
    /// State of an empty bucket, the latest possible state: the time at which the bucket will be full.
    pub latest: Timestamp,
    /// Latest plausible state (time at which the bucket will be full). A later one was written by a clock that ran
    /// ahead, and its bucket counts as full.
    pub plausible: Timestamp,
    /// Time in which one token is refilled, in milliseconds.
    pub token_ms: i64,
    /// Latest new state (time at which the bucket will be full) with which the token is granted.
    pub most: Timestamp,
}

impl Rate {
    /// Takes a token by the generic cell rate algorithm (GCRA). The state `full_at` is the time at which the bucket
    /// will be full; `None` for a full bucket. Returns the new state, or the time until a token is available.
    pub fn take(&self, full_at: Option<Timestamp>, now: Timestamp) -> Result<Timestamp, Duration> {
        let burst = self.burst.max(1);
        let token = self.window / burst;
        // The time until the bucket is full is at most its window. A later state was written by an instance whose
        // clock is slightly ahead, or before the clock stepped back.
        let full_at = plausible_or_now(full_at.unwrap_or(now), self.window, now);
        let full_at = full_at.min(now.plus(self.window)).max(now);
        let after = full_at.plus(token);
        let fill = after.since(now);
        // `token` is rounded down, so the capacity must be computed from the rounded value.
        let whole = token * burst;
        if fill <= whole { Ok(after) } else { Err(fill.saturating_sub(whole)) }
    }
}

impl Take {
    /// Returns the parameters for an engine that computes in SQL.
    #[must_use]
    pub fn terms(&self, now: Timestamp) -> TakeTerms {
        let burst = self.rate.burst.max(1);
        let token = self.rate.window / burst;
        TakeTerms {
            latest: now.plus(self.rate.window),
            plausible: latest_plausible(self.rate.window, now),
            token_ms: Timestamp::default().plus(token).as_millis(),
            most: now.plus(token * burst),
        }
    }

    /// Takes a token by [`Rate::take`], with the limit's name in the refusal.
    pub fn take(&self, full_at: Option<Timestamp>, now: Timestamp) -> Result<Timestamp, Limited> {
        self.rate.take(full_at, now).map_err(|retry_after| Limited { limit: self.limit, retry_after })
    }
}

/// Rules for exponential backoff after failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailurePolicy {
    /// Number of failures in the window at which delays begin.
    pub threshold: u32,
    /// Length of the window in which failures are counted.
    pub window: Duration,
    /// Delay after the failure that reaches the threshold. It doubles with each further failure.
    pub first_delay: Duration,
    /// Maximum delay after a failure.
    pub longest_delay: Duration,
}

/// Failure counter of one subject, such as the pair of an account and a client network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Failures {
    /// Number of failures in the window.
    pub count: u32,
    /// Start of the window; once the threshold is reached, the time of the last failure.
    pub since: Timestamp,
    /// End of the current delay, before which attempts are refused.
    pub blocked_until: Timestamp,
}

impl Failures {
    /// Returns the counter after one more failure at `now`.
    #[must_use]
    pub fn incremented(self, policy: &FailurePolicy, now: Timestamp) -> Self {
        // The count expires only after a whole window without failures since the end of the last delay. Blocked time
        // does not count as time without failures.
        let is_fresh = now.since(self.since.max(self.blocked_until)) <= policy.window;
        let since = if self.is_ahead_of(now) { now } else { self.since };
        let (count, since) = if is_fresh { (self.count.saturating_add(1), since) } else { (1, now) };
        if count < policy.threshold {
            let blocked_until = if self.is_ahead_of(now) { now } else { self.blocked_until };
            return Self { count, since, blocked_until };
        }
        let doublings = (count - policy.threshold).min(16);
        let delay = policy.first_delay.saturating_mul(1 << doublings).min(policy.longest_delay);
        Self { count, since: now, blocked_until: now.plus(delay) }
    }

    /// Returns the rest of the current delay; `None` if an attempt is allowed now.
    #[must_use]
    pub fn blocked(&self, now: Timestamp) -> Option<Duration> {
        // A state from the future is ignored. It would lock users out after a clock that ran ahead was corrected.
        (now < self.blocked_until && !self.is_ahead_of(now)).then(|| self.blocked_until.since(now))
    }

    fn is_ahead_of(&self, now: Timestamp) -> bool {
        is_implausible(self.since, Duration::ZERO, now)
    }

    /// Returns the number of failures if the window of this length includes `now`, otherwise 0.
    #[must_use]
    pub fn count_in(&self, window: Duration, now: Timestamp) -> u32 {
        let counts = now.since(self.since) <= window && !self.is_ahead_of(now);
        if counts { self.count } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    #[test]
    fn a_bucket_gives_its_burst_and_then_one_per_share_of_the_window() {
        let rate = Rate { burst: 3, window: Duration::from_secs(30) };
        let take = Take { key: LimitKey::new("x", &[]), rate, limit: "x" };
        let mut state = None;
        for _ in 0..3 {
            state = Some(take.take(state, at(0)).unwrap());
        }
        let refused = take.take(state, at(0)).unwrap_err();
        assert_eq!(refused.retry_after, Duration::from_secs(10));
        assert!(take.take(state, at(9)).is_err());
        assert!(take.take(state, at(10)).is_ok());
    }

    #[test]
    fn one_in_a_minute_is_one_in_a_minute() {
        let rate = Rate { burst: 1, window: Duration::from_mins(1) };
        let take = Take { key: LimitKey::new("x", &[]), rate, limit: "x" };
        let state = take.take(None, at(0)).unwrap();
        assert!(take.take(Some(state), at(59)).is_err());
        assert!(take.take(Some(state), at(60)).is_ok());
    }

    #[test]
    fn a_bucket_of_a_clock_that_ran_ahead_is_full() {
        let rate = Rate { burst: 3, window: Duration::from_secs(30) };
        let take = Take { key: LimitKey::new("x", &[]), rate, limit: "x" };
        let state = take.take(None, at(100_000)).unwrap();
        assert_eq!(take.take(Some(state), at(1000)), take.take(None, at(1000)));
    }

    #[test]
    fn an_empty_bucket_of_an_instance_a_little_ahead_stays_empty() {
        let rate = Rate { burst: 1, window: Duration::from_mins(1) };
        let take = Take { key: LimitKey::new("x", &[]), rate, limit: "x" };
        let state = take.take(None, at(1060)).unwrap();
        assert_eq!(take.take(Some(state), at(1000)).unwrap_err().retry_after, Duration::from_mins(1));
    }

    #[test]
    fn a_backward_clock_step_ends_blocks_but_keeps_failures() {
        let policy = FailurePolicy {
            threshold: 2,
            window: Duration::from_mins(15),
            first_delay: Duration::from_secs(30),
            longest_delay: Duration::from_mins(15),
        };
        let ahead = Failures::default().incremented(&policy, at(9000)).incremented(&policy, at(9000));
        assert_eq!(ahead.blocked(at(1000)), None);
        let next = ahead.incremented(&policy, at(1000));
        assert_eq!((next.count, next.since), (3, at(1000)));
        assert_eq!(next.blocked(at(1000)), Some(Duration::from_mins(1)));
        assert_eq!(ahead.blocked(at(8970)), Some(Duration::from_mins(1)), "a request that began earlier");
    }

    #[test]
    fn keys_of_other_limits_and_subjects_differ() {
        assert_ne!(LimitKey::new("a", &["bc"]), LimitKey::new("ab", &["c"]));
        assert_ne!(LimitKey::new("a", &["b", "c"]), LimitKey::new("a", &["bc"]));
    }

    #[test]
    fn the_tenth_failure_blocks_and_the_delay_grows_to_its_longest() {
        let policy = FailurePolicy {
            threshold: 10,
            window: Duration::from_mins(15),
            first_delay: Duration::from_secs(30),
            longest_delay: Duration::from_mins(15),
        };
        let mut failures = Failures::default();
        for _ in 0..9 {
            failures = failures.incremented(&policy, at(1000));
        }
        assert_eq!(failures.blocked(at(1000)), None);
        failures = failures.incremented(&policy, at(1000));
        assert_eq!(failures.blocked(at(1000)), Some(Duration::from_secs(30)));
        let mut delays = Vec::new();
        for step in 0..6 {
            let now = at(1031 + step * 901);
            failures = failures.incremented(&policy, now);
            delays.push(failures.blocked(now).unwrap_or_default().as_secs());
        }
        assert_eq!(delays, [60, 120, 240, 480, 900, 900]);
    }

    #[test]
    fn a_quiet_window_forgets() {
        let policy = FailurePolicy {
            threshold: 10,
            window: Duration::from_mins(15),
            first_delay: Duration::from_secs(30),
            longest_delay: Duration::from_mins(15),
        };
        let failures = Failures { count: 9, since: at(0), blocked_until: at(0) };
        assert_eq!(failures.incremented(&policy, at(901)).count, 1);
        assert_eq!(failures.count_in(Duration::from_mins(15), at(901)), 0);
    }
}
