//! Guess limits of password checks, per pair of account and client and per account. Failures are counted in
//! [`crate::limits`].

use std::time::Duration;

use crate::client::ClientAddress;
use crate::email::EmailKey;
use crate::limits::{FailurePolicy, Failures, LimitKey, Limited};
use crate::time::Timestamp;

/// Name of the limit per account and client network.
pub const PAIR_LIMIT: &str = "password sign-in, per account and address";
/// Name of the limit per account.
pub const ACCOUNT_LIMIT: &str = "password sign-in, per account over all addresses";

/// Key that marks a client network as known to an account after a sign-in.
#[must_use]
pub fn known_client(email: &EmailKey, address: ClientAddress) -> LimitKey {
    LimitKey::new("known client", &[email.as_str(), &address.network_text()])
}

/// Checks the limits before a password is compared. A blocked pair is refused; once the account's failures
/// within the window reach the threshold, unknown clients are refused.
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
    let is_spent = account.count_in(account_policy.window, now) >= account_policy.threshold;
    (is_spent && !is_known_client).then(|| {
        let rest = account.since.plus(account_policy.window).since(now);
        Limited { limit: ACCOUNT_LIMIT, retry_after: rest.max(Duration::from_millis(1)) }
    })
}

/// Time after which a counter equals a fresh one.
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

    #[test]
    fn an_expired_counter_equals_a_fresh_one() {
        let failures = Failures { count: 3, since: at(0), blocked_until: at(5) };
        let later = remembered_until(&failures, &POLICY).plus(Duration::from_millis(1));
        let next = failures.incremented(&POLICY, later);
        assert_eq!((next.count, next.since, next.blocked(later)), (1, later, None));
        assert_eq!(failures.count_in(POLICY.window, later), 0);
    }
}
