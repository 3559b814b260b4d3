//! Cases of token buckets: their rule, and operations that take from several buckets, all or none.

use std::collections::BTreeMap;
use std::time::Duration;

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;
use latchkey_domain::limits::{LimitKey, Limited, Rate, Take};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;

use super::acts::{email_code, known};
use super::fixtures::{World, at, key, mac, take};
use super::numbered::entry;
use super::random::Random;
use latchkey_store::{
    BeginPasswordChange, BeginReset, BeginSignUp, CodeAttempt, Entered, ExchangeOutcome, LinkStatus,
    NewToken, OpenLink, OpenedLink, RequestEmailCode, SignInSubject, TokenAttempt, VerifyOutcome,
};

/// Expected refusal by an empty bucket with a capacity of one, which refills in a minute.
const EMPTY: Limited = Limited { limit: "empty", retry_after: Duration::from_mins(1) };

async fn takes(world: &World, takes: &[Take], now: Timestamp) -> bool {
    world.take(takes, now).await.unwrap().is_ok()
}

/// Requests to take from two buckets: one is full, and the other is empty from `at(0)` to `at(60)`.
async fn full_and_empty(world: &World) -> Vec<Take> {
    let empty = take("empty", 1);
    assert!(takes(world, &[empty], at(0)).await);
    vec![take("full", 1), empty]
}

/// Asserts that the full bucket of `full_and_empty` is still full.
async fn assert_nothing_taken(world: &World) {
    assert!(takes(world, &[take("full", 1)], at(0)).await, "a refusal took a token");
}

pub(super) async fn a_bucket_gives_its_burst_and_no_more(world: World) {
    for _ in 0..3 {
        assert_eq!(world.take(&[take("a", 3)], at(0)).await.unwrap(), Ok(()));
    }

    let refused = world.take(&[take("a", 3)], at(0)).await.unwrap();

    assert_eq!(refused, Err(Limited { limit: "a", retry_after: Duration::from_secs(20) }));
    assert!(!takes(&world, &[take("a", 3)], at(19)).await);
    assert!(takes(&world, &[take("a", 3)], at(20)).await);
    assert!(!takes(&world, &[take("a", 3)], at(20)).await);
}

pub(super) async fn tokens_are_taken_from_all_buckets_or_from_none(world: World) {
    assert!(takes(&world, &[take("a", 1)], at(0)).await);

    for _ in 0..3 {
        let refused = world.take(&[take("b", 1), take("a", 1), take("c", 1)], at(0)).await.unwrap();
        assert_eq!(refused.unwrap_err().limit, "a");
    }

    assert!(takes(&world, &[take("b", 1), take("c", 1)], at(0)).await);
    assert!(!takes(&world, &[take("b", 1)], at(0)).await);
    assert!(!takes(&world, &[take("c", 1)], at(0)).await);
}

pub(super) async fn every_key_has_a_bucket_of_its_own(world: World) {
    let other = Take { key: LimitKey::new("a", &["other subject"]), ..take("a", 1) };
    assert!(takes(&world, &[take("a", 1)], at(0)).await);

    assert!(takes(&world, &[other], at(0)).await);
    assert!(takes(&world, &[take("b", 1)], at(0)).await);
    assert!(!takes(&world, &[take("a", 1)], at(0)).await);
}

/// Compares the engine with the rule in `latchkey_domain`: takes tokens from several buckets with odd rates,
/// while the clock jumps forward and back.
pub(super) async fn buckets_follow_the_rule_of_the_domain(world: World) {
    let rates = [(1, 60_000), (3, 10_000), (7, 100), (0, 1_500), (1_000, 3_333)];
    let all: Vec<Take> = (0u8..)
        .zip(rates)
        .map(|(number, (burst, window))| {
            let rate = Rate { burst, window: Duration::from_millis(window) };
            Take { key: LimitKey::new("rule", &[&number.to_string()]), rate, limit: "rule" }
        })
        .collect();
    let (mut random, mut model, mut now) = (Random::new(7), BTreeMap::new(), at(100).as_millis());
    for turn in 0..150 {
        now += i64::try_from(random.below(4_000)).unwrap() - 1_000;
        let moment = Timestamp::from_millis(now);
        let mut takes = all.clone();
        takes.retain(|_| random.below(2) == 0);
        let expected: Result<Vec<_>, Limited> = takes
            .iter()
            .map(|take| Ok((take.key, take.take(model.get(&take.key).copied(), moment)?)))
            .collect();

        let outcome = world.take(&takes, moment).await.unwrap();

        assert_eq!(outcome, expected.clone().map(drop), "turn {turn}");
        model.extend(expected.unwrap_or_default());
    }
}

pub(super) async fn nothing_to_take_is_never_refused(world: World) {
    assert_eq!(world.take(&[], at(0)).await.unwrap(), Ok(()));
}

pub(super) async fn a_limited_sign_up_begins_nothing(world: World) {
    let limits = full_and_empty(&world).await;
    let begin = |takes: Vec<Take>| {
        let world = world.clone();
        async move { world.begin_sign_up(&key("ada"), &takes, at(0)).await.unwrap() }
    };

    assert_eq!(begin(limits.clone()).await, Err(EMPTY));
    assert_eq!(begin(limits[..1].to_vec()).await, Ok(BeginSignUp::Free));

    assert!(!takes(&world, &limits[..1], at(0)).await, "a sign-up takes its token");
}

pub(super) async fn a_limited_sign_in_begins_nothing(world: World) {
    let limits = full_and_empty(&world).await;
    for name in ["ada", "nobody"] {
        let limited = world.begin_sign_in(&key(name), &limits, None, at(0)).await.unwrap();
        assert_eq!(limited, Err(EMPTY));
    }

    let candidate = world.begin_sign_in(&key("ada"), &limits[..1], None, at(0)).await.unwrap();

    assert_eq!(candidate, Ok(SignInSubject::Unknown));
    assert!(!takes(&world, &limits[..1], at(0)).await, "a sign-in takes its token");
}

pub(super) async fn a_password_change_takes_where_it_begins_and_nowhere_else(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await.id;
    let limits = full_and_empty(&world).await;
    let begin = async |session, name, limits: &[Take]| {
        world.begin_password_change(session, &key(name), limits, None, at(0)).await.unwrap()
    };

    assert_eq!(begin(world.open_session(user.id, at(0)).await.id, "ada", &limits).await, Err(EMPTY));
    assert!(matches!(begin(session, "eve", &limits[..1]).await, Ok(BeginPasswordChange::OtherEmail(_))));
    assert!(matches!(begin(session, "ada", &limits[..1]).await, Ok(BeginPasswordChange::Candidate(_))));

    assert!(!takes(&world, &limits[..1], at(0)).await, "a change takes its token");
}

pub(super) async fn a_limited_request_changes_nothing(world: World) {
    world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), Purpose::VerifyEmail, mac(1), at(0)).await;
    world.mails(at(0)).await;
    let limits = full_and_empty(&world).await;
    for name in ["ada", "nobody"] {
        let request = world.request(&key(name), Purpose::VerifyEmail, email_code(mac(2), at(1)), at(0));
        let limited = RequestEmailCode { takes: limits.clone(), ..request };
        assert_eq!(world.request_email_code(limited).await.unwrap(), Err(EMPTY));
    }

    assert_nothing_taken(&world).await;
    assert!(world.mails(at(2)).await.is_empty());
    assert!(!world.verifies(&key("ada"), mac(2), at(2)).await);
    assert!(world.verifies(&key("ada"), mac(1), at(2)).await);
}

pub(super) async fn a_request_takes_its_tokens_for_known_and_unknown_alike(world: World) {
    world.unverified("ada", at(0)).await;
    for (name, limit) in [("ada", "known"), ("nobody", "unknown")] {
        let request = |seconds| {
            let request =
                world.request(&key(name), Purpose::VerifyEmail, email_code(mac(1), at(seconds)), at(seconds));
            world.request_email_code(RequestEmailCode { takes: vec![take(limit, 1)], ..request })
        };
        assert_eq!(request(0).await.unwrap(), Ok(()));

        let again = request(10).await.unwrap();

        let limited = Limited { limit, retry_after: Duration::from_secs(50) };
        assert_eq!(again, Err(limited));
        assert_eq!(request(60).await.unwrap(), Ok(()));
    }
}

pub(super) async fn a_limited_attempt_is_not_counted(world: World) {
    world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), Purpose::VerifyEmail, mac(1), at(0)).await;
    let limits = full_and_empty(&world).await;
    for _ in 0..12 {
        let attempt = CodeAttempt { takes: limits.clone(), ..world.attempt(&key("ada"), mac(1), at(0)) };
        let outcome = world.verify_by_code(attempt, entry(world.session(at(0)))).await.unwrap();
        assert_eq!(outcome, Err(EMPTY));
    }

    let attempt = CodeAttempt { takes: limits[..1].to_vec(), ..world.attempt(&key("ada"), mac(1), at(0)) };
    let outcome = world.verify_by_code(attempt, entry(world.session(at(0)))).await.unwrap();

    assert!(matches!(outcome, Ok(VerifyOutcome::Entered(Entered::Session(_)))), "{outcome:?}");
    assert!(!takes(&world, &limits[..1], at(0)).await, "an attempt takes its token");
}

pub(super) async fn a_limited_exchange_is_not_counted(world: World) {
    world.verified("ada", at(0)).await;
    world.send_code(&key("ada"), Purpose::ResetPassword, mac(1), at(0)).await;
    let limits = full_and_empty(&world).await;
    let token = NewToken { hash: world.token(), expires_at: at(900) };
    for _ in 0..12 {
        let attempt = CodeAttempt { takes: limits.clone(), ..world.attempt(&key("ada"), mac(1), at(0)) };
        assert_eq!(world.exchange_reset_code(attempt, token).await.unwrap(), Err(EMPTY));
    }
    assert!(!world.can_reset(token.hash, at(0)).await);

    let attempt = CodeAttempt { takes: limits[..1].to_vec(), ..world.attempt(&key("ada"), mac(1), at(0)) };

    assert_eq!(world.exchange_reset_code(attempt, token).await.unwrap(), Ok(ExchangeOutcome::Exchanged));
    assert!(!takes(&world, &limits[..1], at(0)).await, "an exchange takes its token");
}

/// Makes a request to open a link that takes tokens from these buckets.
fn opening(world: &World, link: TokenHash, takes: &[Take]) -> OpenLink {
    OpenLink { takes: takes.to_vec(), ..world.link_opening(link, at(0)) }
}

pub(super) async fn a_limited_link_is_not_opened(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), Purpose::VerifyEmail, at(0)).await;
    let limits = full_and_empty(&world).await;
    let event = || world.event(AuditKind::EmailVerified, at(0));

    let opened = world.open_verify_link(opening(&world, link, &limits)).await.unwrap();
    let looked_at = world.inspect_link(link, Purpose::VerifyEmail, &limits, at(0)).await.unwrap();
    let attempt =
        TokenAttempt { token: link, email: None, caller: None, takes: limits.clone(), event: event() };
    let verified = world.verify_by_token(attempt, entry(world.session(at(0)))).await.unwrap();

    assert_eq!((opened, looked_at), (Err(EMPTY), Err(EMPTY)));
    assert_eq!(verified, Err(EMPTY));
    assert_eq!(world.user(user.id).await, user);
    assert_nothing_taken(&world).await;
}

pub(super) async fn every_inspection_of_a_link_takes_from_its_limit(world: World) {
    world.unverified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), Purpose::VerifyEmail, at(0)).await;
    let event = || world.event(AuditKind::EmailVerified, at(0));
    let limits = ["look", "open", "use", "unknown"].map(|limit| [take(limit, 1)]);

    let looked_at = world.inspect_link(link, Purpose::VerifyEmail, &limits[0], at(0)).await.unwrap();
    let opened = world.open_verify_link(opening(&world, link, &limits[1])).await.unwrap();
    let attempt =
        TokenAttempt { token: link, email: None, caller: None, takes: limits[2].to_vec(), event: event() };
    let used = world.verify_by_token(attempt, entry(world.session(at(0)))).await.unwrap();
    let unknown = world.open_verify_link(opening(&world, world.token(), &limits[3])).await.unwrap();

    assert_eq!((looked_at, opened), (Ok(known(LinkStatus::Good)), Ok(known(LinkStatus::Good))));
    assert_eq!((used, unknown), (Ok(VerifyOutcome::Refused), Ok(OpenedLink::Unknown)));
    for limit in limits {
        assert!(!takes(&world, &limit, at(0)).await, "{}", limit[0].limit);
    }
}

pub(super) async fn a_limited_reset_begins_nothing(world: World) {
    world.verified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), Purpose::ResetPassword, at(0)).await;
    let limits = full_and_empty(&world).await;

    assert_eq!(world.begin_reset(link, &limits, at(0)).await.unwrap(), Err(EMPTY));
    assert!(matches!(world.begin_reset(link, &limits[..1], at(0)).await.unwrap(), Ok(BeginReset::Good(_))));

    assert!(!takes(&world, &limits[..1], at(0)).await, "a reset takes its token");
}
