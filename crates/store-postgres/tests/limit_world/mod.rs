//! Rate limits that no test reaches, and password hashes, for the round trip tests.

use std::time::Duration;

use latchkey_domain::account_limits::{AccountLimits, SecondFactorLimits};
use latchkey_domain::codes::CodeBudget;
use latchkey_domain::email::Email;
use latchkey_domain::limits::{FailurePolicy, LimitKey, Rate, Take};
use latchkey_domain::password::PasswordHash;
use latchkey_store::SignInGuard;

pub(crate) fn password(text: &str) -> PasswordHash {
    PasswordHash::from_phc(format!("$argon2id$v=19$m=19456,t=2,p=1$c2FsdA${text}"))
}

pub(crate) fn takes() -> Vec<Take> {
    let rate = Rate { burst: 1_000, window: Duration::from_mins(1) };
    let take = |name: &'static str| Take { key: LimitKey::new(name, &["subject"]), rate, limit: name };
    vec![take("a"), take("b")]
}

pub(crate) fn account_limits() -> AccountLimits {
    let guard = guard();
    AccountLimits {
        email: Email::parse("ada@example.org").unwrap().key().clone(),
        password: guard.account,
        password_policy: guard.account_policy,
        second_factor: SecondFactorLimits {
            account: LimitKey::new("second factor", &[]),
            account_rate: Rate::per(30, 86_400),
            pair_rate: Rate::per(10, 3_600),
            in_a_row: LimitKey::new("in a row", &[]),
            most_in_a_row: 100,
        },
        codes: CodeBudget { per_code: 5, per_hour: 10, per_day: 30 },
        buckets: takes().into_iter().map(|take| (take, None)).collect(),
    }
}

pub(crate) fn guard() -> SignInGuard {
    let policy = FailurePolicy {
        threshold: 1_000,
        window: Duration::from_mins(15),
        first_delay: Duration::from_secs(30),
        longest_delay: Duration::from_mins(15),
    };
    SignInGuard {
        pair: LimitKey::new("pair", &[]),
        pair_policy: policy,
        account: LimitKey::new("account", &[]),
        account_policy: policy,
        known_client: LimitKey::new("client", &[]),
        known_for: Duration::from_hours(1),
    }
}
