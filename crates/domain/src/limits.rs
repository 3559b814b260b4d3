//! Rate limits and failure counters as pure arithmetic over small states, so that every engine counts alike.

use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::stored_time::{is_implausible, latest_plausible, plausible_or_now};
use crate::time::Timestamp;

/// A token bucket that holds `burst` tokens and refills evenly over `window`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Capacity in tokens.
    pub burst: u32,
    /// Time to refill an empty bucket.
    pub window: Duration,
}

impl Rate {
    /// A rate of `burst` per window of so many seconds.
    #[must_use]
    pub const fn per(burst: u32, seconds: u64) -> Self {
        Self { burst, window: Duration::from_secs(seconds) }
    }
}

/// Key of a bucket or counter in a store: a hash, so that no address or email is stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LimitKey([u8; 16]);

impl LimitKey {
    /// Derives the key of a limit and its subject (an address, an account, or both): SHA-256 over the parts
    /// with their lengths, truncated to 16 bytes.
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

    /// Restores a key from a store.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes, for a store.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// A request for one token of one bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Take {
    /// Key of the bucket.
    pub key: LimitKey,
    /// Capacity and refill.
    pub rate: Rate,
    /// Name of the limit in a refusal.
    pub limit: &'static str,
}

/// Refusal by a bucket or counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limited {
    /// Name of the limit.
    pub limit: &'static str,
    /// Time until the next attempt may succeed.
    pub retry_after: Duration,
}

/// Parameters of [`Take::take`] for an engine that computes in the database. The old state (or `now`, if
/// there is none or it is beyond `plausible`) is clamped to `now`…`latest`, then `token_ms` is added; the
/// token is granted if the result is at most `most`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakeTerms {
    /// Latest possible state of a bucket.
    pub latest: Timestamp,
    /// Latest plausible state: a later one was written by a clock that ran ahead, and counts as full.
    pub plausible: Timestamp,
    /// Cost of a token, in milliseconds.
    pub token_ms: i64,
    /// Latest state after which a token is granted.
    pub most: Timestamp,
}

impl Rate {
    /// Takes a token by the generic cell rate algorithm. The state `full_at` is the theoretical arrival time,
    /// at which the bucket is full again; an unknown bucket is full. Returns the new state, or the time to
    /// wait.
    pub fn take(&self, full_at: Option<Timestamp>, now: Timestamp) -> Result<Timestamp, Duration> {
        let burst = self.burst.max(1);
        let token = self.window / burst;
        // No bucket is further from full than its window. A later state was written by another instance a
        // moment later, or before the clock stepped back.
        let full_at = plausible_or_now(full_at.unwrap_or(now), self.window, now);
        let full_at = full_at.min(now.plus(self.window)).max(now);
        let after = full_at.plus(token);
        let fill = after.since(now);
        // `token` is rounded down, so the capacity is computed with the same rounding.
        let whole = token * burst;
        if fill <= whole { Ok(after) } else { Err(fill.saturating_sub(whole)) }
    }
}

impl Take {
    /// Parameters for an engine that computes in the database.
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

    /// Takes the token by [`Rate::take`].
    pub fn take(&self, full_at: Option<Timestamp>, now: Timestamp) -> Result<Timestamp, Limited> {
        self.rate.take(full_at, now).map_err(|retry_after| Limited { limit: self.limit, retry_after })
    }
}

/// Exponential backoff after failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailurePolicy {
    /// Number of failures from which further attempts are delayed.
    pub threshold: u32,
    /// Window in which failures are counted.
    pub window: Duration,
    /// First delay; doubles with each further failure.
    pub first_delay: Duration,
    /// Longest delay.
    pub longest_delay: Duration,
}

/// Failure counter of one subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Failures {
    /// Failures in the window.
    pub count: u32,
    /// Start of the window.
    pub since: Timestamp,
    /// End of the current delay.
    pub blocked_until: Timestamp,
}

impl Failures {
    /// The counter after another failure.
    #[must_use]
    pub fn incremented(self, policy: &FailurePolicy, now: Timestamp) -> Self {
        // Blocked time is not quiet time: the window expires only after its length without failures following
        // the block.
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

    /// Time until the next attempt is allowed; `None` if it is allowed now.
    #[must_use]
    pub fn blocked(&self, now: Timestamp) -> Option<Duration> {
        // A state from the future is ignored: after the correction of a clock that was an hour ahead, it
        // would lock users out for that hour.
        (now < self.blocked_until && !self.is_ahead_of(now)).then(|| self.blocked_until.since(now))
    }

    fn is_ahead_of(&self, now: Timestamp) -> bool {
        is_implausible(self.since, Duration::ZERO, now)
    }

    /// Failures within a window of this length at `now`.
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
