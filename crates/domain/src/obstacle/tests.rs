use super::*;
use crate::account_limits::RefusedClients;
use crate::fixtures::verified_user as ada;
use crate::guess_limits::{PAIR_LIMIT, SECOND_FACTOR_PAIR_LIMIT};
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

#[test]
fn limits_count_where_the_account_meets_them() {
    let held = |limit| HeldLimit { limit, purpose: None, clients: RefusedClients::Some, until: Some(at(9)) };
    let limits = [held(PAIR_LIMIT), held(SECOND_FACTOR_PAIR_LIMIT), held("mails, per recipient")];
    let user = ada();
    let of_password = SignInFacts { limits: &limits, ..facts(&user) };

    assert_eq!(of_password.obstacles(), [Obstacle::Limited(limits[0])]);
    let two_step = User { two_step_at: Some(at(0)), has_password: false, ..ada() };
    let of_factor = SignInFacts { user: &two_step, has_code_factor: true, offer: &BY_MAIL, ..of_password };
    assert_eq!(of_factor.obstacles(), [Obstacle::Limited(limits[1])]);
}
