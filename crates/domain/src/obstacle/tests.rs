use super::*;
use crate::account_limits::{CODE_LIMIT, RefusedClients};
use crate::codes::Purpose;
use crate::fixtures::verified_user as ada;
use crate::guess_limits::{ACCOUNT_LIMIT, PAIR_LIMIT, SECOND_FACTOR_ACCOUNT_LIMIT, SECOND_FACTOR_PAIR_LIMIT};
use crate::passkey::RpId;

/// A service that offers the password alone.
static OFFER: SignInOffer = SignInOffer { providers: Vec::new(), rp_id: None, by_email: false };
static BY_MAIL: SignInOffer = SignInOffer { providers: Vec::new(), rp_id: None, by_email: true };

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_000_000 + seconds * 1000)
}

fn facts(user: &User) -> SignInFacts<'_> {
    SignInFacts {
        user,
        must_verify: true,
        offer: &OFFER,
        policy: SecondFactorPolicy::Optional,
        has_code_factor: false,
        address_since: Timestamp::from_millis(0),
        last_mail: None,
        limits: &[],
        has_live_code: false,
        by_link: false,
    }
}

#[test]
fn verified_account_with_a_password_meets_no_obstacle() {
    assert_eq!(facts(&ada()).obstacles(), []);
}

#[test]
fn obstacles_that_block_every_sign_in_come_first() {
    let user = User {
        banned_at: Some(at(1)),
        deletes_at: Some(at(2)),
        email_verified: false,
        has_password: false,
        two_step_at: Some(at(3)),
        ..ada()
    };

    let obstacles = facts(&user).obstacles();

    let unverified = Obstacle::Unverified { since: at(-1_000), mail: None, by_mail: false };
    let banned = Obstacle::Banned { since: at(1) };
    let deletion = Obstacle::Deletion { until: at(2) };
    assert_eq!(obstacles, [banned, Obstacle::NoWay, unverified, Obstacle::NoFactor, deletion]);
    let is_blocking: Vec<_> = obstacles.iter().map(Obstacle::is_blocking).collect();
    assert_eq!(is_blocking, [true, true, true, true, false]);
}

#[test]
fn unverified_account_is_in_the_way_only_where_verification_is_required() {
    let user = User { email_verified: false, ..ada() };
    let last_mail = Some(VerificationMail::Dead { at: at(5) });
    let facts = SignInFacts { last_mail, ..facts(&user) };

    let unverified = |by_mail| Obstacle::Unverified { since: at(-1_000), mail: last_mail, by_mail };
    assert_eq!(facts.obstacles(), [unverified(false)]);
    assert_eq!(SignInFacts { offer: &BY_MAIL, ..facts }.obstacles(), [unverified(true)]);
    assert!(!unverified(true).is_blocking(), "a sign-in by mail verifies");
    assert_eq!(SignInFacts { must_verify: false, ..facts }.obstacles(), []);
}

#[test]
fn each_way_in_is_enough() {
    let user = User { has_password: false, ..ada() };
    let none = facts(&user);

    assert_eq!(none.obstacles(), [Obstacle::NoWay]);
    assert_eq!(SignInFacts { offer: &BY_MAIL, ..none }.obstacles(), []);
    let rp_id = RpId::new("example.org");
    let offer = SignInOffer { rp_id: Some(rp_id.clone()), ..OFFER.clone() };
    let with_passkey = User { passkeys: vec![rp_id], ..user.clone() };
    assert_eq!(SignInFacts { user: &with_passkey, offer: &offer, ..none }.obstacles(), []);
    assert_eq!(SignInFacts { user: &with_passkey, ..none }.obstacles(), [Obstacle::NoWay]);
}

#[test]
fn password_of_a_contested_account_is_no_way_in() {
    let user = User { email_verified: false, is_contested: true, ..ada() };

    assert_eq!(SignInFacts { must_verify: false, ..facts(&user) }.obstacles(), [Obstacle::NoWay]);
}

#[test]
fn required_second_factor_is_enrolled_at_the_next_sign_in() {
    let user = ada();
    let facts = SignInFacts { policy: SecondFactorPolicy::Required, ..facts(&user) };

    assert_eq!(facts.obstacles(), [Obstacle::MustEnroll]);
    let two_step = User { two_step_at: Some(at(0)), ..ada() };
    assert_eq!(SignInFacts { user: &two_step, has_code_factor: true, ..facts }.obstacles(), []);
    assert_eq!(SignInFacts { user: &two_step, ..facts }.obstacles(), [Obstacle::NoFactor]);
}

fn held(limit: &'static str, clients: RefusedClients) -> HeldLimit {
    HeldLimit { limit, purpose: None, clients, until: Some(at(9)), spares_next_code: false }
}

/// Limits of mails and codes for sign-ins.
fn of_mail(limit: &'static str, clients: RefusedClients) -> HeldLimit {
    HeldLimit { purpose: Some(Purpose::SignIn), ..held(limit, clients) }
}

const MAILS: &str = "mails, per recipient";

/// Limits among the obstacles, with whether they block.
fn limited(facts: &SignInFacts<'_>) -> Vec<(&'static str, bool)> {
    let limit = |obstacle: &Obstacle| match obstacle {
        Obstacle::Limited { held, .. } => Some((held.limit, obstacle.is_blocking())),
        _ => None,
    };
    facts.obstacles().iter().filter_map(limit).collect()
}

#[test]
fn limits_count_where_the_account_meets_them() {
    let some = RefusedClients::Some;
    let limits =
        [held(PAIR_LIMIT, some), held(SECOND_FACTOR_PAIR_LIMIT, some), held(MAILS, RefusedClients::All)];
    let user = ada();
    let of_password = SignInFacts { limits: &limits, ..facts(&user) };

    assert_eq!(of_password.obstacles(), [Obstacle::Limited { held: limits[0], is_closed: false }]);
    let two_step = User { two_step_at: Some(at(0)), has_password: false, ..ada() };
    let of_factor = SignInFacts { user: &two_step, has_code_factor: true, offer: &BY_MAIL, ..of_password };
    assert_eq!(of_factor.obstacles(), [Obstacle::Limited { held: limits[1], is_closed: false }]);
}

#[test]
fn limit_that_refuses_everybody_closes_the_only_way() {
    let limits = [held(ACCOUNT_LIMIT, RefusedClients::Unknown).without_known_clients()];
    let user = ada();
    let only = SignInFacts { limits: &limits, ..facts(&user) };

    assert_eq!(limited(&only), [(ACCOUNT_LIMIT, true)]);
    assert_eq!(limited(&SignInFacts { offer: &BY_MAIL, ..only }), [(ACCOUNT_LIMIT, false)]);
    let known = [held(ACCOUNT_LIMIT, RefusedClients::Unknown)];
    assert_eq!(limited(&SignInFacts { limits: &known, ..only }), [(ACCOUNT_LIMIT, false)]);
}

#[test]
fn limits_of_mails_and_codes_close_an_account_without_another_way() {
    let by_mail = User { has_password: false, ..ada() };
    let mails = [of_mail(MAILS, RefusedClients::All)];
    let of_mails = SignInFacts { offer: &BY_MAIL, limits: &mails, ..facts(&by_mail) };

    assert_eq!(limited(&of_mails), [(MAILS, true)]);
    assert_eq!(limited(&SignInFacts { has_live_code: true, ..of_mails }), [(MAILS, false)]);
    let with_password = ada();
    assert_eq!(limited(&SignInFacts { user: &with_password, ..of_mails }), []);
    let unverified = User { email_verified: false, ..ada() };
    assert_eq!(limited(&SignInFacts { user: &unverified, ..of_mails }), [(MAILS, true)]);

    let codes = [of_mail(CODE_LIMIT, RefusedClients::Known), of_mail(CODE_LIMIT, RefusedClients::Unknown)];
    let of_codes = SignInFacts { limits: &codes, ..of_mails };
    assert_eq!(limited(&of_codes), [(CODE_LIMIT, true), (CODE_LIMIT, true)]);
    assert_eq!(limited(&SignInFacts { limits: &codes[1..], ..of_mails }), [(CODE_LIMIT, false)]);
    assert_eq!(limited(&SignInFacts { by_link: true, ..of_codes })[0], (CODE_LIMIT, false));
    let of_day = [HeldLimit { spares_next_code: true, ..codes[0] }, codes[1]];
    assert_eq!(limited(&SignInFacts { limits: &of_day, ..of_mails })[0], (CODE_LIMIT, false));
}

#[test]
fn limits_of_all_ways_together_close_the_account() {
    let user = ada();
    let limits = [held(ACCOUNT_LIMIT, RefusedClients::All), of_mail(MAILS, RefusedClients::All)];
    let both = SignInFacts { limits: &limits, offer: &BY_MAIL, ..facts(&user) };
    assert_eq!(limited(&both), [(ACCOUNT_LIMIT, true), (MAILS, true)]);

    let rp_id = RpId::new("example.org");
    let offer = SignInOffer { rp_id: Some(rp_id.clone()), ..BY_MAIL.clone() };
    let with_passkey = User { passkeys: vec![rp_id], ..ada() };
    assert_eq!(
        limited(&SignInFacts { user: &with_passkey, offer: &offer, ..both }),
        [(ACCOUNT_LIMIT, false)]
    );
}

#[test]
fn limit_of_second_factors_closes_every_way_but_the_passkey() {
    let limits = [held(SECOND_FACTOR_ACCOUNT_LIMIT, RefusedClients::All)];
    let user = User { two_step_at: Some(at(0)), ..ada() };
    let codes = SignInFacts { limits: &limits, has_code_factor: true, offer: &BY_MAIL, ..facts(&user) };
    assert_eq!(limited(&codes), [(SECOND_FACTOR_ACCOUNT_LIMIT, true)]);

    let rp_id = RpId::new("example.org");
    let offer = SignInOffer { rp_id: Some(rp_id.clone()), ..BY_MAIL.clone() };
    let with_passkey = User { passkeys: vec![rp_id], ..user.clone() };
    let either = SignInFacts { user: &with_passkey, offer: &offer, ..codes };
    assert_eq!(limited(&either), [(SECOND_FACTOR_ACCOUNT_LIMIT, false)]);
}
