//! Cases of isolation: a code or token is valid only for its own account and purpose.

use latchkey_domain::codes::Purpose;

use super::fixtures::{World, at, key, mac};
use latchkey_store::{Entered, OpenedLink, VerifyOutcome};

use Purpose::{ResetPassword, VerifyEmail};

pub(super) async fn a_code_of_one_account_opens_no_other(world: World) {
    for (name, code) in [("ada", 1), ("eve", 2)] {
        world.unverified(name, at(0)).await;
        world.send_code(&key(name), VerifyEmail, mac(code), at(0)).await;
        world.send_code(&key(name), ResetPassword, mac(10 + code), at(0)).await;
    }

    assert!(!world.verifies(&key("eve"), mac(1), at(1)).await);
    assert!(world.exchange(&key("eve"), mac(11), at(1)).await.is_none());

    assert!(world.exchange(&key("ada"), mac(11), at(2)).await.is_some(), "a foreign attempt used it up");
    assert!(world.verifies(&key("ada"), mac(1), at(2)).await, "a foreign attempt used it up");
}

pub(super) async fn a_code_of_one_purpose_serves_no_other(world: World) {
    world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(0)).await;
    world.send_code(&key("ada"), ResetPassword, mac(2), at(0)).await;

    assert!(world.exchange(&key("ada"), mac(1), at(1)).await.is_none());
    assert!(!world.verifies(&key("ada"), mac(2), at(1)).await);

    assert!(world.exchange(&key("ada"), mac(2), at(2)).await.is_some());
    assert!(world.verifies(&key("ada"), mac(1), at(2)).await);
}

pub(super) async fn attempts_count_by_account_and_by_purpose(world: World) {
    for name in ["ada", "eve"] {
        world.unverified(name, at(0)).await;
        world.send_code(&key(name), VerifyEmail, mac(1), at(0)).await;
        world.send_code(&key(name), ResetPassword, mac(2), at(0)).await;
    }
    for _ in 0..10 {
        assert!(!world.verifies(&key("ada"), mac(99), at(1)).await);
    }

    assert!(!world.verifies(&key("ada"), mac(1), at(2)).await);
    assert!(world.exchange(&key("ada"), mac(2), at(2)).await.is_some());
    assert!(world.exchange(&key("eve"), mac(2), at(2)).await.is_some());
    assert!(world.verifies(&key("eve"), mac(1), at(2)).await);
}

pub(super) async fn a_verify_link_resets_no_password(world: World) {
    world.unverified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(0)).await;

    assert!(!world.can_reset(link, at(1)).await);
    assert_eq!(world.reset(link, "evil", at(1)).await, None);
    assert_eq!(world.look(link, ResetPassword, at(1)).await, OpenedLink::Unknown);

    assert!(matches!(world.verify_token(link, at(2)).await, VerifyOutcome::Entered(Entered::Session(_))));
}

pub(super) async fn a_reset_token_verifies_no_address(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), ResetPassword, at(0)).await;
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(0)).await;
    world.unverified("eve", at(0)).await;
    world.send_code(&key("eve"), ResetPassword, mac(2), at(0)).await;
    let exchanged = world.exchange(&key("eve"), mac(2), at(1)).await.unwrap();

    for token in [link, exchanged] {
        assert_eq!(world.open_link(token, at(2)).await, OpenedLink::Unknown);
        assert_eq!(world.look(token, VerifyEmail, at(2)).await, OpenedLink::Unknown);
        assert_eq!(world.verify_token(token, at(2)).await, VerifyOutcome::Refused);
    }
    assert!(!world.user(user.id).await.email_verified);
    assert!(world.can_reset(link, at(3)).await && world.can_reset(exchanged, at(3)).await);
}

pub(super) async fn a_reset_changes_no_other_account(world: World) {
    let ada = world.verified("ada", at(0)).await;
    let eve = world.verified("eve", at(0)).await;
    let session = world.open_session(eve.id, at(0)).await;
    let eves_link = world.send_link(&key("eve"), ResetPassword, at(0)).await;
    let adas_link = world.send_link(&key("ada"), ResetPassword, at(0)).await;
    let before = (world.user(eve.id).await, world.candidate("eve", at(1)).await);

    assert_eq!(world.reset(adas_link, "fresh", at(1)).await.unwrap().id, ada.id);

    assert_eq!((world.user(eve.id).await, world.candidate("eve", at(1)).await), before);
    assert!(world.lives(session.id, at(2)).await);
    assert_eq!(world.reset(eves_link, "fresh", at(2)).await.unwrap().id, eve.id);
}

pub(super) async fn a_new_code_invalidates_no_code_of_another_account(world: World) {
    for name in ["ada", "eve"] {
        world.unverified(name, at(0)).await;
        world.send_code(&key(name), VerifyEmail, mac(1), at(0)).await;
    }
    let link = world.send_link(&key("eve"), ResetPassword, at(0)).await;

    world.send_link(&key("ada"), VerifyEmail, at(1)).await;
    world.send_code(&key("ada"), ResetPassword, mac(2), at(1)).await;

    assert!(world.can_reset(link, at(2)).await);
    assert!(world.verifies(&key("eve"), mac(1), at(2)).await);
}

pub(super) async fn an_address_given_away_keeps_no_code(world: World) {
    let first = world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(0)).await;
    let link = world.send_link(&key("ada"), ResetPassword, at(0)).await;
    world.move_to(first.id, "countess", at(1)).await;
    let second = world.unverified("ada", at(2)).await;

    assert!(!world.verifies(&key("ada"), mac(1), at(3)).await);
    assert!(!world.verifies(&key("countess"), mac(1), at(3)).await);
    assert_eq!(world.reset(link, "evil", at(3)).await, None);
    for user in [first.id, second.id] {
        assert!(!world.user(user).await.email_verified);
    }
}

pub(super) async fn an_address_given_back_revives_no_code(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let opened = world.send_link(&key("ada"), VerifyEmail, at(0)).await;
    world.send_code(&key("ada"), ResetPassword, mac(2), at(0)).await;
    let exchanged = world.exchange(&key("ada"), mac(2), at(0)).await.unwrap();
    world.send_code(&key("ada"), ResetPassword, mac(3), at(0)).await;

    world.move_to(user.id, "countess", at(1)).await;
    world.move_to(user.id, "ada", at(2)).await;

    assert_eq!(world.verify_token(opened, at(3)).await, VerifyOutcome::Refused);
    assert_eq!(world.reset(exchanged, "evil", at(3)).await, None);
    assert!(world.exchange(&key("ada"), mac(3), at(3)).await.is_none());
    assert!(!world.user(user.id).await.email_verified);
}
