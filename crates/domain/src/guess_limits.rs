//! Guess limits of passwords and second factors, per account and client network, and per account over all networks. The
//! counters are defined in [`crate::limits`].

use std::time::Duration;

use crate::client::ClientAddress;
use crate::email::EmailKey;
use crate::limits::{FailurePolicy, Failures, LimitKey, Limited, Rate};
use crate::time::Timestamp;

/// Name of the limit per account and client network, as in error messages.
pub const PAIR_LIMIT: &str = "password sign-in, per account and address";
/// Name of the limit per account over all client networks, as in error messages.
pub const ACCOUNT_LIMIT: &str = "password sign-in, per account over all addresses";

/// Name of the limit of second factors per account and client network, as in error messages.
pub const SECOND_FACTOR_PAIR_LIMIT: &str = "second factor, per account and address";
/// Name of the limits of second factors per account over all client networks, as in error messages.
pub const SECOND_FACTOR_ACCOUNT_LIMIT: &str = "second factor, per account over all addresses";
/// Number of wrong second factors within a day after which the owner gets a mail: someone seems to know the password.
pub const FAILURES_TOLD: u32 = 5;
/// Window of the counter of consecutive failures: ten years, so in effect only a success resets that counter.
pub const IN_A_ROW_WINDOW: Duration = Duration::from_hours(24 * 365 * 10);

/// Guess limits of second factors. TOTP codes and recovery codes share the counters, for all purposes of challenges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecondFactorGuard {
    /// Key of the failure counter of this account and client network.
    pub pair: LimitKey,
    /// Limit of the counter `pair`: once `burst` failures are reached, the client must wait for the end of `window`.
    pub pair_rate: Rate,
    /// Key of the failure counter of this account over all clients.
    pub account: LimitKey,
    /// Limit of the counter `account`: once `burst` failures are reached, only known clients may answer until the end
    /// of `window`.
    pub account_rate: Rate,
    /// Key of the account's counter of consecutive failures, which only a success clears.
    pub in_a_row: LimitKey,
    /// Number of consecutive failures at which only known clients may still answer.
    pub most_in_a_row: u32,
    /// Key under which this client network is stored as known to the account after a sign-in.
    pub known_client: LimitKey,
}

/// States of the failure counters that a [`SecondFactorGuard`] names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SecondFactorFailures {
    /// Failures of the account and client network.
    pub pair: Failures,
    /// Failures of the account over all clients.
    pub account: Failures,
    /// Consecutive failures of the account over all clients.
    pub in_a_row: Failures,
}

impl SecondFactorGuard {
    /// Returns the policies of the counters, in the order of the fields of [`SecondFactorFailures`]. The policies have
    /// no delays, because [`Self::limited`] refuses until a window ends.
    #[must_use]
    pub const fn policies(&self) -> [FailurePolicy; 3] {
        const fn counting(window: Duration) -> FailurePolicy {
            let (first_delay, longest_delay) = (Duration::ZERO, Duration::ZERO);
            FailurePolicy { threshold: u32::MAX, window, first_delay, longest_delay }
        }
        [counting(self.pair_rate.window), counting(self.account_rate.window), counting(IN_A_ROW_WINDOW)]
    }

    /// Checks the guess limits before an answer is compared. Returns the limit that refuses the answer; `None` permits
    /// it.
    #[must_use]
    pub fn limited(
        &self,
        failures: &SecondFactorFailures,
        is_known_client: bool,
        now: Timestamp,
    ) -> Option<Limited> {
        if let Some(retry_after) = rest_of_window(&failures.pair, self.pair_rate, now) {
            return Some(Limited { limit: SECOND_FACTOR_PAIR_LIMIT, retry_after });
        }
        if is_known_client {
            return None;
        }
        let limited = |retry_after| Limited { limit: SECOND_FACTOR_ACCOUNT_LIMIT, retry_after };
        if let Some(retry_after) = rest_of_window(&failures.account, self.account_rate, now) {
            return Some(limited(retry_after));
        }
        let is_spent = failures.in_a_row.count_in(IN_A_ROW_WINDOW, now) >= self.most_in_a_row;
        is_spent.then(|| limited(self.account_rate.window))
    }
}

/// Returns the key under which a client network is stored as known to an account after a sign-in.
#[must_use]
pub fn known_client(email: &EmailKey, address: ClientAddress) -> LimitKey {
    LimitKey::new("known client", &[email.as_str(), &address.network_text()])
}

/// Checks both guess limits before a password is compared. Returns the limit that refuses the comparison; `None`
/// permits it. The counter `pair`, of account and client network, refuses while its delay lasts. The counter `account`
/// refuses clients unknown to the account while it has reached its threshold within the window.
#[must_use]
pub fn limited(
    pair: &Failures,
    account: &Failures,
    account_policy: &FailurePolicy,
    is_known_client: bool,
    now: Timestamp,
) -> Option<Limited> {
    if let Some(retry_after) = pair.blocked(now) {
        return Some(Limited { limit: PAIR_LIMIT, retry_after });
    }
    let rest = rest_of_account(account, account_policy, now).filter(|_| !is_known_client);
    rest.map(|retry_after| Limited { limit: ACCOUNT_LIMIT, retry_after })
}

/// Returns the time for which the counter of wrong passwords over all client networks refuses unknown clients; `None` if
/// it refuses none.
pub(crate) fn rest_of_account(
    account: &Failures,
    policy: &FailurePolicy,
    now: Timestamp,
) -> Option<Duration> {
    let is_spent = account.count_in(policy.window, now) >= policy.threshold;
    is_spent.then(|| account.since.plus(policy.window).since(now).max(Duration::from_millis(1)))
}

/// Returns the time for which a counter of wrong second factors refuses clients; `None` if it refuses none. At the very
/// end of a window the rest is zero and the limit does not apply, so that a client that waited for `Retry-After` is
/// admitted.
pub(crate) fn rest_of_window(failures: &Failures, rate: Rate, now: Timestamp) -> Option<Duration> {
    let left = failures.since.plus(rate.window).since(now);
    (failures.count_in(rate.window, now) >= rate.burst && !left.is_zero()).then_some(left)
}

/// Returns the time after which a failure counter has no effect and can be deleted.
#[must_use]
pub fn remembered_until(failures: &Failures, policy: &FailurePolicy) -> Timestamp {
    failures.since.max(failures.blocked_until).plus(policy.window)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: FailurePolicy = FailurePolicy {
        threshold: 3,
        window: Duration::from_mins(1),
        first_delay: Duration::from_secs(5),
        longest_delay: Duration::from_secs(20),
    };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_000_000 + seconds * 1000)
    }

    #[test]
    fn a_blocked_pair_waits_for_the_rest_of_its_block() {
        let pair = Failures { count: 3, since: at(0), blocked_until: at(5) };
        let verdict = limited(&pair, &Failures::default(), &POLICY, true, at(2));
        assert_eq!(verdict, Some(Limited { limit: PAIR_LIMIT, retry_after: Duration::from_secs(3) }));
        assert_eq!(limited(&pair, &Failures::default(), &POLICY, true, at(5)), None);
    }

    #[test]
    fn a_spent_account_admits_known_clients_alone() {
        let account = Failures { count: 3, since: at(0), blocked_until: at(0) };
        let verdict = limited(&Failures::default(), &account, &POLICY, false, at(20));
        assert_eq!(verdict, Some(Limited { limit: ACCOUNT_LIMIT, retry_after: Duration::from_secs(40) }));
        assert_eq!(limited(&Failures::default(), &account, &POLICY, true, at(20)), None);
        assert_eq!(limited(&Failures::default(), &account, &POLICY, false, at(61)), None);
    }

    fn guard() -> SecondFactorGuard {
        let key = LimitKey::new("", &[]);
        SecondFactorGuard {
            pair: key,
            pair_rate: Rate::per(10, 3_600),
            account: key,
            account_rate: Rate::per(30, 86_400),
            in_a_row: key,
            most_in_a_row: 100,
            known_client: key,
        }
    }

    fn counted(count: u32) -> Failures {
        Failures { count, since: at(0), blocked_until: at(0) }
    }

    #[test]
    fn the_eleventh_second_factor_of_a_pair_waits_for_the_end_of_the_hour() {
        let failures = SecondFactorFailures { pair: counted(10), ..SecondFactorFailures::default() };
        let limited = guard().limited(&failures, true, at(600));
        let retry_after = Duration::from_mins(50);
        assert_eq!(limited, Some(Limited { limit: SECOND_FACTOR_PAIR_LIMIT, retry_after }));
        assert_eq!(guard().limited(&failures, true, at(3_601)), None);
        let fewer = SecondFactorFailures { pair: counted(9), ..failures };
        assert_eq!(guard().limited(&fewer, false, at(600)), None);
    }

    #[test]
    fn beyond_30_a_day_or_100_in_a_row_known_clients_alone_are_heard() {
        let day = SecondFactorFailures { account: counted(30), ..SecondFactorFailures::default() };
        let row = SecondFactorFailures { in_a_row: counted(100), ..SecondFactorFailures::default() };
        for failures in [day, row] {
            assert!(guard().limited(&failures, false, at(60)).is_some());
            assert_eq!(guard().limited(&failures, true, at(60)), None);
        }
        assert_eq!(guard().limited(&day, false, at(86_401)), None);
        assert!(guard().limited(&row, false, at(86_401 * 30)).is_some());
    }

    #[test]
    fn an_expired_counter_equals_a_fresh_one() {
        let failures = Failures { count: 3, since: at(0), blocked_until: at(5) };
        let later = remembered_until(&failures, &POLICY).plus(Duration::from_millis(1));
        let next = failures.incremented(&POLICY, later);
        assert_eq!((next.count, next.since, next.blocked(later)), (1, later, None));
        assert_eq!(failures.count_in(POLICY.window, later), 0);
    }
}
