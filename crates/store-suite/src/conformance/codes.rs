//! Cases of email codes: single use, short lifetime, few attempts, one valid code at a time.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::Purpose;

use super::acts::email_code;
use super::fixtures::{HOUR, MINUTE, World, at, key, mac};
use super::numbered::entry;
use latchkey_domain::mail_kind::MailKind;
use latchkey_store::{Entered, LinkStatus, ListMails, MailState, VerifyOutcome};

use Purpose::{ResetPassword, VerifyEmail};

pub(super) async fn the_right_code_verifies_and_signs_in(world: World) {
    let user = world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(0)).await;
    let (attempt, session) = (world.attempt(&key("ada"), mac(1), at(9)), world.session(at(9)));
    let event = attempt.event.id;

    let outcome = world.verify_by_code(attempt, entry(session.clone())).await.unwrap().unwrap();

    let VerifyOutcome::Entered(Entered::Session(verified)) = outcome else { panic!("{outcome:?}") };
    assert_eq!((verified.id, verified.email_verified, verified.is_pending), (user.id, true, false));
    assert_eq!(world.user(user.id).await, *verified);
    assert_eq!(world.find_session_owner(session.id, at(9)).await.unwrap(), Some(user.id));
    let event = world.event_of(event).await.unwrap();
    assert_eq!(
        (event.kind, event.user_id, event.session_id),
        (AuditKind::EmailVerified, Some(user.id), Some(session.id))
    );
}

pub(super) async fn a_code_is_mailed_to_the_account(world: World) {
    let user = world.unverified("Ada", at(0)).await;
    let request = world.request(&key("ada"), VerifyEmail, email_code(mac(1), at(1)), at(1));
    let mail = request.mail.clone();

    world.request_email_code(request).await.unwrap().unwrap();

    let [claimed] = &world.mails(at(1)).await[..] else { panic!("one mail expected") };
    assert_eq!((claimed.id, claimed.kind, &claimed.sealed), (mail.id, MailKind::Verify, &mail.sealed));
    assert_eq!(
        (claimed.recipient.user_id, claimed.recipient.email.as_typed()),
        (Some(user.id), "Ada@example.org")
    );
    assert_eq!((claimed.created_at, claimed.attempts), (at(1), 0));
}

pub(super) async fn a_wrong_code_is_refused_and_opens_nothing(world: World) {
    let user = world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(0)).await;
    let (attempt, session) = (world.attempt(&key("ada"), mac(2), at(1)), world.session(at(1)));

    let outcome = world.verify_by_code(attempt, entry(session.clone())).await.unwrap().unwrap();

    assert_eq!(outcome, VerifyOutcome::Refused);
    assert!(!world.lives(session.id, at(1)).await);
    assert_eq!(world.user(user.id).await, user);
}

pub(super) async fn an_expired_code_is_refused(world: World) {
    world.unverified("ada", at(0)).await;
    world.unverified("eve", at(0)).await;
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(0)).await;
    world.send_code(&key("eve"), VerifyEmail, mac(1), at(0)).await;

    assert!(world.verifies(&key("ada"), mac(1), at(10 * MINUTE - 1)).await);
    assert!(!world.verifies(&key("eve"), mac(1), at(10 * MINUTE)).await);
}

pub(super) async fn a_code_is_good_once(world: World) {
    world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(0)).await;

    assert!(world.verifies(&key("ada"), mac(1), at(1)).await);
    assert!(!world.verifies(&key("ada"), mac(1), at(2)).await);
}

pub(super) async fn the_fifth_attempt_counts_and_the_sixth_does_not(world: World) {
    for name in ["ada", "eve"] {
        world.unverified(name, at(0)).await;
        world.send_code(&key(name), VerifyEmail, mac(1), at(0)).await;
        for _ in 0..4 {
            assert!(!world.verifies(&key(name), mac(2), at(1)).await);
        }
    }

    assert!(world.verifies(&key("ada"), mac(1), at(2)).await, "the fifth attempt");
    assert!(!world.verifies(&key("eve"), mac(2), at(2)).await);
    assert!(!world.verifies(&key("eve"), mac(1), at(3)).await, "the sixth attempt");
}

pub(super) async fn ten_attempts_an_hour_hold_across_resends(world: World) {
    world.unverified("ada", at(0)).await;
    for code in [1, 2] {
        world.send_code(&key("ada"), VerifyEmail, mac(code), at(0)).await;
        for _ in 0..5 {
            assert!(!world.verifies(&key("ada"), mac(99), at(1)).await);
        }
    }

    world.send_code(&key("ada"), VerifyEmail, mac(3), at(2)).await;
    assert!(!world.verifies(&key("ada"), mac(3), at(3)).await, "the eleventh attempt of the hour");
    world.send_code(&key("ada"), VerifyEmail, mac(4), at(2 * HOUR)).await;
    assert!(world.verifies(&key("ada"), mac(4), at(2 * HOUR)).await);
}

pub(super) async fn the_tenth_attempt_of_the_hour_counts(world: World) {
    world.unverified("ada", at(0)).await;
    for (code, wrong) in [(1, 5), (2, 4)] {
        world.send_code(&key("ada"), VerifyEmail, mac(code), at(0)).await;
        for _ in 0..wrong {
            assert!(!world.verifies(&key("ada"), mac(99), at(1)).await);
        }
    }

    assert!(world.verifies(&key("ada"), mac(2), at(2)).await);
}

pub(super) async fn attempts_count_where_there_is_no_code(world: World) {
    world.unverified("ada", at(0)).await;
    for _ in 0..10 {
        assert!(!world.verifies(&key("ada"), mac(99), at(0)).await);
    }

    world.send_code(&key("ada"), VerifyEmail, mac(1), at(1)).await;

    assert!(!world.verifies(&key("ada"), mac(1), at(2)).await);
}

pub(super) async fn a_newer_code_replaces_the_older(world: World) {
    world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(0)).await;
    world.send_code(&key("ada"), VerifyEmail, mac(2), at(1)).await;

    assert!(!world.verifies(&key("ada"), mac(1), at(2)).await);
    assert!(world.verifies(&key("ada"), mac(2), at(2)).await);
}

pub(super) async fn a_newer_code_has_attempts_of_its_own(world: World) {
    world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(0)).await;
    for _ in 0..5 {
        assert!(!world.verifies(&key("ada"), mac(99), at(1)).await);
    }

    world.send_code(&key("ada"), VerifyEmail, mac(2), at(2)).await;

    assert!(world.verifies(&key("ada"), mac(2), at(3)).await);
}

pub(super) async fn a_link_ends_the_code_and_a_code_ends_the_link(world: World) {
    world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(0)).await;
    let link = world.send_link(&key("ada"), VerifyEmail, at(1)).await;
    assert!(!world.verifies(&key("ada"), mac(1), at(2)).await);

    world.send_code(&key("ada"), VerifyEmail, mac(2), at(3)).await;

    assert_eq!(world.open_link(link, at(4)).await, super::acts::known(LinkStatus::Superseded));
    assert!(world.verifies(&key("ada"), mac(2), at(5)).await);
}

pub(super) async fn codes_of_two_purposes_are_live_at_the_same_time(world: World) {
    world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(0)).await;
    world.send_code(&key("ada"), ResetPassword, mac(2), at(1)).await;

    assert!(world.exchange(&key("ada"), mac(2), at(2)).await.is_some());
    assert!(world.verifies(&key("ada"), mac(1), at(2)).await);
}

pub(super) async fn addresses_without_a_claim_get_neither_code_nor_mail(world: World) {
    world.verified("verified", at(0)).await;
    let banned = world.unverified("banned", at(0)).await;
    world.ban(banned.id, at(0)).await;
    for name in ["nobody", "verified", "banned"] {
        world.send_code(&key(name), VerifyEmail, mac(1), at(1)).await;
    }

    for name in ["nobody", "verified", "banned"] {
        assert!(!world.verifies(&key(name), mac(1), at(2)).await, "{name}");
    }
    assert!(world.mails(at(2)).await.is_empty(), "a decoy was claimed");
    for state in [None, Some(MailState::Queued), Some(MailState::Decoy)] {
        assert!(
            world.list_mails(&ListMails::newest(state, 10)).await.unwrap().mails.is_empty(),
            "a decoy was listed under {state:?}"
        );
    }
    assert_eq!(world.next_mail_due().await.unwrap(), None);
}

pub(super) async fn an_account_created_after_a_decoy_does_not_get_its_code(world: World) {
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(0)).await;
    let link = world.send_link(&key("eve"), VerifyEmail, at(0)).await;
    world.unverified("ada", at(1)).await;
    world.unverified("eve", at(1)).await;

    assert!(!world.verifies(&key("ada"), mac(1), at(2)).await);
    assert_eq!(world.verify_token(link, at(2)).await, VerifyOutcome::Refused);
    assert!(world.mails(at(2)).await.is_empty());
}

pub(super) async fn a_banned_account_is_refused(world: World) {
    let user = world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(0)).await;
    world.ban(user.id, at(1)).await;

    assert!(!world.verifies(&key("ada"), mac(1), at(2)).await);
    assert!(!world.user(user.id).await.email_verified);
}

pub(super) async fn verification_from_inside_keeps_existing_sessions(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    world.send_code(&key("ada"), VerifyEmail, mac(1), at(0)).await;

    assert!(world.verifies_from(session.id, mac(1), at(1)).await);

    assert!(world.lives(session.id, at(1)).await);
    assert_eq!(world.list_sessions(user.id, at(1)).await.unwrap().len(), 2);
}
