//! Cases of the guess limits of sign-in and password change.

use std::time::Duration;

use latchkey_domain::audit::AuditKind;
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::{FailurePolicy, LimitKey, Limited};
use latchkey_domain::time::Timestamp;

use super::fixtures::{DAY, HOUR, MINUTE, World, at, days, key, password};
use latchkey_store::{ChangePassword, Entered, FailedSignIn, PasswordChange, SignInGuard, SignInOutcome};

/// Name of the guess limit per account and client address.
const PAIR: &str = "password sign-in, per account and address";
const ACCOUNT: &str = "password sign-in, per account over all addresses";

/// Makes the default guess limits of password checks, for an account and a client.
pub(super) fn guard(account: &str, client: &str) -> SignInGuard {
    SignInGuard {
        pair: LimitKey::new("pair", &[account, client]),
        pair_policy: FailurePolicy {
            threshold: 10,
            window: Duration::from_mins(15),
            first_delay: Duration::from_secs(30),
            longest_delay: Duration::from_mins(15),
        },
        account: LimitKey::new("account", &[account]),
        account_policy: FailurePolicy {
            threshold: 100,
            window: Duration::from_hours(1),
            first_delay: Duration::ZERO,
            longest_delay: Duration::ZERO,
        },
        known_client: LimitKey::new("known", &[account, client]),
        known_for: days(30),
    }
}

pub(super) async fn fail(world: &World, guard: &SignInGuard, now: Timestamp) -> Option<Limited> {
    let event = world.event(AuditKind::SignInFailed, now);
    world.fail_sign_in(FailedSignIn { guard: Some(guard.clone()), event, now }).await.unwrap().err()
}

async fn fail_times(world: &World, guard: &SignInGuard, times: u32, now: Timestamp) {
    for _ in 0..times {
        fail(world, guard, now).await;
    }
}

/// Begins a sign-in. Returns the guess limit that refuses it, or `None` if the password may be checked.
async fn limited(world: &World, name: &str, guard: &SignInGuard, now: Timestamp) -> Option<Limited> {
    world.begin_sign_in(&key(name), &[], Some(guard), now).await.unwrap().err()
}

/// Enters a hundred wrong passwords from twelve clients, none of which reaches its own limit.
async fn storm(world: &World, account: &str, now: Timestamp) {
    for client in 0..12 {
        let guard = guard(account, &format!("storm {client}"));
        fail_times(world, &guard, if client < 11 { 9 } else { 1 }, now).await;
    }
}

async fn succeed(world: &World, user: UserId, guard: &SignInGuard, now: Timestamp) -> SignInOutcome {
    world.sign_in(world.right(user, "secret", Some(guard), now)).await.unwrap().unwrap()
}

pub(super) async fn the_tenth_failure_blocks_account_and_client(world: World) {
    world.verified("ada", at(0)).await;
    let guard = guard("ada", "home");
    fail_times(&world, &guard, 9, at(0)).await;
    assert_eq!(limited(&world, "ada", &guard, at(0)).await, None);

    assert_eq!(fail(&world, &guard, at(0)).await, None, "the tenth itself was free");

    let stopped = limited(&world, "ada", &guard, at(10)).await;
    assert_eq!(stopped, Some(Limited { limit: PAIR, retry_after: Duration::from_secs(20) }));
    assert_eq!(limited(&world, "ada", &guard, at(30)).await, None);
}

pub(super) async fn the_delay_grows_with_each_further_failure(world: World) {
    let guard = guard("ada", "home");
    fail_times(&world, &guard, 10, at(0)).await;
    let mut now = at(31);
    let mut delays = Vec::new();

    for _ in 0..6 {
        assert_eq!(fail(&world, &guard, now).await, None);
        let stopped = limited(&world, "ada", &guard, now).await.unwrap();
        delays.push(stopped.retry_after.as_secs());
        now = now.plus(stopped.retry_after);
    }

    assert_eq!(delays, [60, 120, 240, 480, 900, 900]);
}

pub(super) async fn a_failure_while_blocked_returns_the_limit(world: World) {
    let guard = guard("ada", "home");
    fail_times(&world, &guard, 10, at(0)).await;

    let answer = fail(&world, &guard, at(1)).await.unwrap();

    assert_eq!(answer.limit, PAIR);
    assert!(limited(&world, "ada", &guard, at(2)).await.is_some());
}

pub(super) async fn another_client_is_not_blocked(world: World) {
    world.verified("ada", at(0)).await;
    world.verified("eve", at(0)).await;
    fail_times(&world, &guard("ada", "thief"), 12, at(0)).await;

    assert!(limited(&world, "ada", &guard("ada", "thief"), at(1)).await.is_some());
    assert_eq!(limited(&world, "ada", &guard("ada", "home"), at(1)).await, None);
    assert_eq!(limited(&world, "eve", &guard("eve", "thief"), at(1)).await, None);
}

pub(super) async fn failures_count_where_there_is_no_account(world: World) {
    let guard = guard("nobody", "home");
    fail_times(&world, &guard, 9, at(0)).await;
    assert_eq!(limited(&world, "nobody", &guard, at(0)).await, None);

    fail(&world, &guard, at(0)).await;

    assert_eq!(limited(&world, "nobody", &guard, at(0)).await.unwrap().limit, PAIR);
}

pub(super) async fn old_failures_are_forgotten(world: World) {
    let guard = guard("ada", "home");
    fail_times(&world, &guard, 9, at(0)).await;

    fail_times(&world, &guard, 9, at(16 * MINUTE)).await;

    assert_eq!(limited(&world, "ada", &guard, at(16 * MINUTE)).await, None);
}

pub(super) async fn a_hundred_failures_leave_only_known_clients(world: World) {
    let user = world.verified("ada", at(0)).await;
    let (home, stranger) = (guard("ada", "home"), guard("ada", "stranger"));
    assert!(matches!(
        succeed(&world, user.id, &home, at(0)).await,
        SignInOutcome::Entered(Entered::Session(_))
    ));
    storm(&world, "ada", at(DAY)).await;

    let stopped = limited(&world, "ada", &stranger, at(DAY + 60)).await.unwrap();

    assert_eq!(stopped.limit, ACCOUNT);
    assert_eq!(stopped.retry_after, Duration::from_mins(59), "the rest of the window");
    assert_eq!(limited(&world, "ada", &home, at(DAY + 60)).await, None);
    let opened = succeed(&world, user.id, &home, at(DAY + 60)).await;
    assert!(matches!(opened, SignInOutcome::Entered(Entered::Session(_))));
    assert_eq!(limited(&world, "ada", &stranger, at(DAY + 2 * HOUR)).await, None);
}

pub(super) async fn ninety_nine_failures_stop_no_stranger(world: World) {
    for client in 0..11 {
        fail_times(&world, &guard("ada", &format!("storm {client}")), 9, at(0)).await;
    }

    assert_eq!(limited(&world, "ada", &guard("ada", "stranger"), at(1)).await, None);
}

pub(super) async fn a_storm_on_one_account_stops_no_other(world: World) {
    storm(&world, "ada", at(0)).await;

    assert!(limited(&world, "ada", &guard("ada", "stranger"), at(1)).await.is_some());
    assert_eq!(limited(&world, "eve", &guard("eve", "stranger"), at(1)).await, None);
}

pub(super) async fn a_client_is_known_for_thirty_days(world: World) {
    let user = world.verified("ada", at(0)).await;
    let home = guard("ada", "home");
    assert!(matches!(
        succeed(&world, user.id, &home, at(0)).await,
        SignInOutcome::Entered(Entered::Session(_))
    ));
    storm(&world, "ada", at(29 * DAY)).await;
    assert_eq!(limited(&world, "ada", &home, at(29 * DAY + 1)).await, None);

    storm(&world, "ada", at(31 * DAY)).await;

    assert_eq!(limited(&world, "ada", &home, at(31 * DAY + 1)).await.unwrap().limit, ACCOUNT);
}

pub(super) async fn a_success_forgets_the_failures_of_the_pair(world: World) {
    let user = world.verified("ada", at(0)).await;
    let home = guard("ada", "home");
    fail_times(&world, &home, 9, at(0)).await;

    assert!(matches!(
        succeed(&world, user.id, &home, at(1)).await,
        SignInOutcome::Entered(Entered::Session(_))
    ));

    fail_times(&world, &home, 9, at(2)).await;
    assert_eq!(limited(&world, "ada", &home, at(2)).await, None);
}

pub(super) async fn a_success_does_not_forget_the_failures_of_the_account(world: World) {
    let user = world.verified("ada", at(0)).await;
    let home = guard("ada", "home");
    assert!(matches!(
        succeed(&world, user.id, &home, at(0)).await,
        SignInOutcome::Entered(Entered::Session(_))
    ));
    storm(&world, "ada", at(HOUR)).await;

    assert!(matches!(
        succeed(&world, user.id, &home, at(HOUR)).await,
        SignInOutcome::Entered(Entered::Session(_))
    ));

    assert_eq!(limited(&world, "ada", &guard("ada", "stranger"), at(HOUR + 1)).await.unwrap().limit, ACCOUNT);
}

pub(super) async fn a_guess_begun_before_the_block_gains_nothing(world: World) {
    let user = world.verified("ada", at(0)).await;
    let home = guard("ada", "home");
    assert_eq!(limited(&world, "ada", &home, at(0)).await, None);
    fail_times(&world, &home, 10, at(0)).await;
    let sign_in = world.right(user.id, "secret", Some(&home), at(1));
    let session = sign_in.entry.session.id;

    let outcome = world.sign_in(sign_in).await.unwrap();

    assert!(matches!(outcome, Err(Limited { limit: PAIR, .. })), "{outcome:?}");
    assert!(!world.lives(session, at(1)).await);
    assert!(limited(&world, "ada", &home, at(1)).await.is_some(), "a refused success forgets nothing");
}

pub(super) async fn without_a_guard_nothing_is_counted(world: World) {
    let user = world.verified("ada", at(0)).await;
    for _ in 0..12 {
        let event = world.event(AuditKind::SignInFailed, at(0));
        let failed = FailedSignIn { guard: None, event, now: at(0) };
        assert_eq!(world.fail_sign_in(failed).await.unwrap(), Ok(()));
    }

    assert_eq!(limited(&world, "ada", &guard("ada", "home"), at(0)).await, None);
    world.open_session(user.id, at(1)).await;
}

pub(super) async fn a_password_change_shares_the_guess_limits(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let home = guard("ada", "home");
    let change = |now| ChangePassword {
        user_id: user.id,
        checked: password("secret"),
        password: password("fresh"),
        keep: session.id,
        page_token: None,
        guard: Some(home.clone()),
        event: world.event(AuditKind::PasswordChanged, now),
        mail: None,
        now,
    };
    fail_times(&world, &home, 10, at(0)).await;

    let refused = world.change_password(change(at(1))).await.unwrap();

    assert!(matches!(refused, Err(Limited { limit: PAIR, .. })), "{refused:?}");
    assert_eq!(world.candidate("ada", at(1)).await.unwrap().password, Some(password("secret")));
    assert_eq!(world.change_password(change(at(31))).await.unwrap().unwrap(), PasswordChange::Changed);
    fail_times(&world, &home, 9, at(32)).await;
    assert_eq!(
        limited(&world, "ada", &home, at(32)).await,
        None,
        "the change forgot the failures of the pair"
    );
}
