#![allow(clippy::unwrap_used)]

use std::time::Duration;

use super::*;
use crate::code_window::CodeWindow;
use crate::email::Email;

const PAUSE: Rate = Rate::per(1, 60);
const HOURLY: Rate = Rate::per(5, 3_600);

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_000_000_000 + seconds * 1000)
}

fn bucket(name: &'static str, rate: Rate) -> Take {
    Take { key: LimitKey::new(name, &[]), rate, limit: "mails, per recipient" }
}

fn limits() -> AccountLimits {
    let password_policy = FailurePolicy {
        threshold: 100,
        window: Duration::from_hours(1),
        first_delay: Duration::from_secs(30),
        longest_delay: Duration::from_mins(15),
    };
    AccountLimits {
        email: Email::parse("ada@example.org").unwrap().key().clone(),
        password: LimitKey::new("password", &[]),
        password_policy,
        second_factor: SecondFactorLimits {
            account: LimitKey::new("second factor", &[]),
            account_rate: Rate::per(30, 86_400),
            pair_rate: Rate::per(10, 3_600),
            in_a_row: LimitKey::new("in a row", &[]),
            most_in_a_row: 100,
        },
        codes: CodeBudget { per_code: 5, per_hour: 10, per_day: 30 },
        buckets: vec![
            (bucket("pause", PAUSE), Some(Purpose::ResetPassword)),
            (bucket("hourly", HOURLY), Some(Purpose::ResetPassword)),
        ],
    }
}

fn counted(count: u32) -> Failures {
    Failures { count, since: at(0), blocked_until: at(0) }
}

fn held(
    counters: &AccountCounters,
    now: Timestamp,
) -> Vec<(&'static str, RefusedClients, Option<Timestamp>)> {
    limits().held(counters, now).iter().map(|held| (held.limit, held.clients, held.until)).collect()
}

#[test]
fn untouched_counters_hold_nothing() {
    assert_eq!(limits().held(&AccountCounters::default(), at(0)), []);
}

#[test]
fn of_many_networks_the_longest_block_is_listed() {
    let blocked = |seconds| Failures { count: 10, since: at(0), blocked_until: at(seconds) };
    let password_pairs = vec![blocked(30), blocked(60), counted(9)];
    let counters = AccountCounters { password_pairs, ..AccountCounters::default() };

    assert_eq!(held(&counters, at(10)), [(PAIR_LIMIT, RefusedClients::Some, Some(at(60)))]);
    assert_eq!(held(&counters, at(60)), []);
}

#[test]
fn spent_account_refuses_unknown_clients_until_its_window_ends() {
    let counters = AccountCounters { password: counted(100), ..AccountCounters::default() };

    assert_eq!(held(&counters, at(10)), [(ACCOUNT_LIMIT, RefusedClients::Unknown, Some(at(3_600)))]);
    assert_eq!(held(&counters, at(3_601)), []);
}

#[test]
fn second_factors_in_a_row_are_refused_without_an_end() {
    let counters = AccountCounters {
        second_factor: counted(30),
        second_factor_pairs: vec![counted(10)],
        in_a_row: counted(100),
        ..AccountCounters::default()
    };

    let pair = (SECOND_FACTOR_PAIR_LIMIT, RefusedClients::Some, Some(at(3_600)));
    assert_eq!(held(&counters, at(60)), [pair, (SECOND_FACTOR_ACCOUNT_LIMIT, RefusedClients::Unknown, None)]);
    let fewer = AccountCounters { in_a_row: counted(99), second_factor_pairs: Vec::new(), ..counters };
    let day = (SECOND_FACTOR_ACCOUNT_LIMIT, RefusedClients::Unknown, Some(at(86_400)));
    assert_eq!(held(&fewer, at(60)), [day]);
}

#[test]
fn wrong_codes_hold_for_their_group_of_clients() {
    let attempts = |attempts| CodeWindow { attempts, since: at(0) };
    let made = LaneAttempts { hour: attempts(10), day: attempts(10) };
    let codes = vec![(Purpose::VerifyEmail, Lane::Known, made)];
    let counters = AccountCounters { codes, ..AccountCounters::default() };

    assert_eq!(held(&counters, at(60)), [(CODE_LIMIT, RefusedClients::Known, Some(at(3_600)))]);
    assert_eq!(held(&counters, at(3_600)), []);
    let day = LaneAttempts { hour: attempts(10), day: attempts(30) };
    let counters = AccountCounters { codes: vec![(Purpose::VerifyEmail, Lane::Other, day)], ..counters };
    assert_eq!(held(&counters, at(60)), [(CODE_LIMIT, RefusedClients::Unknown, Some(at(86_400)))]);
}

#[test]
fn both_buckets_of_a_recipient_are_one_limit_with_the_later_end() {
    let taken =
        |rate: Rate, times| (0..times).fold(None, |full_at, _| Some(rate.take(full_at, at(0)).unwrap()));
    let buckets = vec![
        (LimitKey::new("pause", &[]), taken(PAUSE, 1).unwrap()),
        (LimitKey::new("hourly", &[]), taken(HOURLY, 5).unwrap()),
    ];
    let counters = AccountCounters { buckets, ..AccountCounters::default() };

    let held = limits().held(&counters, at(0));

    assert_eq!(held.len(), 1);
    assert_eq!((held[0].purpose, held[0].clients), (Some(Purpose::ResetPassword), RefusedClients::All));
    assert_eq!(held[0].until, Some(at(720)));
    assert_eq!(limits().held(&counters, at(720)), []);
}
