//! Cases of the limits of an account: their states are found, and lifted.

use std::time::Duration;

use latchkey_domain::account_limits::{AccountCounters, AccountLimits, SecondFactorLimits};
use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::{CodeBudget, CodeForm, Purpose};
use latchkey_domain::limits::{Failures, LimitKey};
use latchkey_domain::time::Timestamp;
use latchkey_store::{AnswerChallenge, Answered, CodeAttempt, NewToken};

use super::factor_acts::second_factor_guard;
use super::fixtures::{STRANGER, World, at, key, lane, mac, take};
use super::guards::{fail, guard};
use super::races::race;

/// The default limits of an account, with one token bucket of its own.
pub(super) fn limits(name: &str) -> AccountLimits {
    let (password, second_factor) = (guard(name, "any"), second_factor_guard(name, "any"));
    let mut bucket = take("mails", 1);
    bucket.key = LimitKey::new("mails", &[name]);
    AccountLimits {
        email: key(name),
        password: password.account,
        password_policy: password.account_policy,
        second_factor: SecondFactorLimits {
            account: second_factor.account,
            account_rate: second_factor.account_rate,
            pair_rate: second_factor.pair_rate,
            in_a_row: second_factor.in_a_row,
            most_in_a_row: second_factor.most_in_a_row,
        },
        codes: CodeBudget { per_code: 5, per_hour: 10, per_day: 30 },
        buckets: vec![(bucket, Some(Purpose::VerifyEmail))],
    }
}

/// Numbers of the counted failures: of passwords over all clients, and per client; of second factors over all clients, per
/// client, and in a row; of codes; and the number of buckets that are not full.
fn counts(counters: &AccountCounters) -> [Vec<u32>; 7] {
    let of = |pairs: &[Failures]| {
        let mut counts: Vec<_> = pairs.iter().map(|pair| pair.count).collect();
        counts.sort_unstable();
        counts
    };
    [
        vec![counters.password.count],
        of(&counters.password_pairs),
        vec![counters.second_factor.count],
        of(&counters.second_factor_pairs),
        vec![counters.in_a_row.count],
        counters.codes.iter().map(|(_, _, made)| made.day.attempts).collect(),
        vec![u32::try_from(counters.buckets.len()).unwrap()],
    ]
}

/// The counts after [`use_up`].
fn used_up() -> [Vec<u32>; 7] {
    [vec![3], vec![1, 2], vec![0], vec![], vec![0], vec![1], vec![1]]
}

async fn found(world: &World, name: &str) -> AccountCounters {
    world.find_account_limits(&limits(name)).await.unwrap()
}

/// Fails with passwords three times from two clients, with a code, and takes the token of the bucket.
async fn use_up(world: &World, name: &str, now: Timestamp) {
    for client in ["home", "home", "office"] {
        fail(world, &guard(name, client), now).await;
    }
    world.take(&[limits(name).buckets[0].0], now).await.unwrap().unwrap();
    let attempt = CodeAttempt { lane: lane(&key(name), STRANGER), ..world.attempt(&key(name), mac(9), now) };
    let attempt = CodeAttempt { form: CodeForm::SixDigits, ..attempt };
    let token = NewToken { hash: world.token(), expires_at: now.plus(Duration::from_mins(15)) };
    world.exchange_reset_code(attempt, token).await.unwrap().unwrap();
}

pub(super) async fn an_untouched_account_has_no_counters(world: World) {
    world.verified("ada", at(0)).await;

    assert_eq!(found(&world, "ada").await, AccountCounters::default());
}

pub(super) async fn counters_of_an_account_are_found_by_its_keys(world: World) {
    world.verified("ada", at(0)).await;
    world.verified("bob", at(0)).await;
    use_up(&world, "ada", at(1)).await;
    fail(&world, &guard("bob", "home"), at(1)).await;

    let counters = found(&world, "ada").await;

    assert_eq!(counts(&counters), used_up());
    assert_eq!(counters.buckets[0], (limits("ada").buckets[0].0.key, at(61)));
    assert_eq!(
        counts(&found(&world, "bob").await),
        [vec![1], vec![1], vec![0], vec![], vec![0], vec![], vec![0]]
    );
}

pub(super) async fn counters_of_an_unknown_address_are_found_alike(world: World) {
    use_up(&world, "nobody", at(1)).await;

    assert_eq!(counts(&found(&world, "nobody").await), used_up());
}

pub(super) async fn counters_of_second_factors_are_found(world: World) {
    let two_step = world.two_step("ada", at(0)).await;
    for client in ["home", "office", "office"] {
        let challenge = world.challenged(two_step.user.id, at(1)).await;
        let guard = Some(second_factor_guard("ada", client));
        let wrong = AnswerChallenge { guard, ..world.wrong(challenge, at(1)) };
        assert_eq!(world.judged(wrong).await, Answered::Wrong);
    }

    let counters = found(&world, "ada").await;

    assert_eq!(counts(&counters), [vec![0], vec![], vec![3], vec![1, 2], vec![3], vec![], vec![0]]);
    assert!(counters.used_at.is_some(), "a session was opened");
    let act = world.act(two_step.user.id, AuditKind::LimitsLifted, at(2));
    world.lift_limits(&limits("ada"), act).await.unwrap().unwrap();
    let none = AccountCounters { used_at: counters.used_at, ..AccountCounters::default() };
    assert_eq!(found(&world, "ada").await, none);
}

pub(super) async fn limits_are_lifted_of_one_account_and_audited(world: World) {
    let ada = world.verified("ada", at(0)).await;
    world.verified("bob", at(0)).await;
    use_up(&world, "ada", at(1)).await;
    use_up(&world, "bob", at(1)).await;

    let act = world.act(ada.id, AuditKind::LimitsLifted, at(2));
    world.lift_limits(&limits("ada"), act).await.unwrap().unwrap();

    assert_eq!(found(&world, "ada").await, AccountCounters::default());
    assert_eq!(world.take(&[limits("ada").buckets[0].0], at(2)).await.unwrap(), Ok(()));
    assert_eq!(counts(&found(&world, "bob").await), used_up());
    let events = world.events().await;
    let last = events.iter().find(|event| event.kind == AuditKind::LimitsLifted).unwrap();
    assert_eq!(last.user_id, Some(ada.id));
}

pub(super) async fn limits_are_lifted_while_failures_are_counted(world: World) {
    let ada = world.verified("ada", at(0)).await;
    use_up(&world, "ada", at(1)).await;

    race(&world, move |world, number| async move {
        if number % 4 == 0 {
            let act = world.act(ada.id, AuditKind::LimitsLifted, at(2));
            world.lift_limits(&limits("ada"), act).await.unwrap().unwrap();
        } else {
            fail(&world, &guard("ada", &format!("client {}", number % 3)), at(2)).await;
        }
    })
    .await;

    let act = world.act(ada.id, AuditKind::LimitsLifted, at(3));
    world.lift_limits(&limits("ada"), act).await.unwrap().unwrap();
    assert_eq!(found(&world, "ada").await, AccountCounters::default());
}
