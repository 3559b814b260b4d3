//! Cases of changes of an address by its owner.

use latchkey_domain::codes::{CodeForm, Purpose};
use latchkey_domain::email_change::Side;
use latchkey_domain::mail_kind::MailKind;

use super::email_change_acts::{CURRENT, Mover, NEW, to};
use super::factor_acts::TwoStep;
use super::fixtures::{HOME, HOUR, LONG, MINUTE, STRANGER, World, at, email, key, long, mac};
use latchkey_store::{BegunEmailChange, ConfirmEmailChange, ConfirmedEmailChange, ShownCode, VerifyOutcome};

use ConfirmedEmailChange::{Changed, Moved, Needs, NoSession, NotFound, Refused, Taken};

pub(super) async fn a_change_needs_a_code_of_each_side(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let begin = world.email_change(ada, "Countess", STRANGER, at(1));
    let (id, event) = (begin.id, begin.event.id);

    let outcome = world.begin_email_change(begin).await.unwrap().unwrap();

    assert_eq!(outcome, BegunEmailChange::Begun(vec![Side::New, Side::Current]));
    let change = world.open_change(ada, at(2)).await.unwrap();
    assert_eq!((change.id, change.new_email.as_typed()), (id, "Countess@example.org"));
    assert_eq!((change.proven(), change.expires_at), (vec![], at(1 + 30 * MINUTE)));
    assert_eq!(
        world.told(at(2)).await,
        [(MailKind::EmailChange, to("ada")), (MailKind::EmailChange, to("countess"))]
    );
    assert_eq!(world.event_of(event).await.unwrap().session_id, Some(ada.session));

    assert_eq!(world.entered(ada, id, (Some(NEW), None), at(3)).await, Needs(vec![Side::Current]));
    assert_eq!(world.user(ada.user).await.email, email("ada"));
    assert_eq!(world.open_change(ada, at(3)).await.unwrap().proven(), [Side::New]);
    let Changed(live) = world.entered(ada, id, (None, Some(CURRENT)), at(4)).await else { panic!() };

    assert_eq!((live.user.email.as_typed(), live.user.email_verified), ("Countess@example.org", true));
    assert_eq!((live.session.id, live.user.updated_at), (ada.session, at(4)));
    assert_eq!(world.user(ada.user).await, live.user);
    assert_eq!(world.open_change(ada, at(4)).await, None);
    assert_eq!(world.find_user_by_email(&key("ada")).await.unwrap(), None);
    assert!(world.candidate("countess", at(5)).await.is_some());
}

pub(super) async fn a_changed_address_is_told_on_both_sides_and_audited(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let (id, _) = world.begun(ada, "eva", at(1)).await;
    world.mails(at(1)).await;
    let confirm = world.entering(ada, id, (Some(mac(NEW)), Some(mac(CURRENT))), STRANGER, at(2));
    let event = confirm.writes.event.id;

    world.confirm_email_change(confirm).await.unwrap().unwrap();

    let event = world.event_of(event).await.unwrap();
    assert_eq!((event.user_id, event.session_id), (Some(ada.user), Some(ada.session)));
    let told = [(MailKind::EmailChanged, to("ada")), (MailKind::EmailChangedNew, to("eva"))];
    assert_eq!(world.told(at(2)).await, told);
}

pub(super) async fn a_changed_address_ends_other_sessions_codes_tokens_and_challenges(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let other = world.open_session(ada.user, at(0)).await.id;
    let reset = world.reset_token("ada", at(0)).await;
    world.send_code(&key("ada"), Purpose::ResetPassword, mac(1), at(0)).await;
    let (challenge, _) = world.step_up(ada.session, at(0)).await.unwrap();

    world.moved(ada, "eva", at(1)).await;

    assert!(world.lives(ada.session, at(2)).await && !world.lives(other, at(2)).await);
    assert!(world.found(challenge, at(2)).await.is_none());
    assert!(!world.can_reset(reset, at(2)).await);
    for name in ["ada", "eva"] {
        assert!(world.exchange(&key(name), mac(1), at(2)).await.is_none(), "{name}");
    }
}

pub(super) async fn an_unverified_address_is_left_without_proof_mail_or_reservation(world: World) {
    let user = world.unverified("ada", at(0)).await.id;
    let ada = Mover { user, session: world.open_session(user, at(0)).await.id, name: "ada" };

    let (id, needs) = world.begun(ada, "eva", at(1)).await;

    assert_eq!(needs, [Side::New]);
    assert_eq!(world.told(at(1)).await, [(MailKind::EmailChange, to("eva"))]);
    let confirm = world.entering(ada, id, (Some(mac(NEW)), None), STRANGER, at(2));
    let undo = confirm.writes.undo.unwrap().hash;
    let outcome = world.confirm_email_change(confirm).await.unwrap().unwrap();
    assert!(matches!(outcome, Changed(live) if live.user.email_verified));
    assert_eq!(world.told(at(2)).await, [(MailKind::EmailChangedNew, to("eva"))]);
    assert_eq!(world.find_undo(undo, &[], at(2)).await.unwrap().unwrap(), None);
    world.verified("ada", at(3)).await;
}

pub(super) async fn the_second_factor_stands_for_the_current_address(world: World) {
    let TwoStep { user, session, .. } = world.two_step("ada", at(0)).await;
    world.mails(at(0)).await;
    let ada = Mover { user: user.id, session: session.id, name: "ada" };

    let (id, needs) = world.begun(ada, "eva", at(1)).await;

    assert_eq!(needs, [Side::New]);
    assert_eq!(world.told(at(1)).await, [(MailKind::EmailChange, to("eva"))]);
    assert!(matches!(world.entered(ada, id, (Some(NEW), None), at(2)).await, Changed(_)));
    assert!(world.user(ada.user).await.has_two_step());
}

pub(super) async fn a_wrong_code_is_refused_and_a_right_one_beside_it_counts(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let (id, _) = world.begun(ada, "eva", at(1)).await;

    assert_eq!(world.entered(ada, id, (Some(99), Some(CURRENT)), at(2)).await, Refused);

    assert_eq!(world.open_change(ada, at(2)).await.unwrap().proven(), [Side::Current]);
    assert_eq!(world.entered(ada, id, (None, None), at(3)).await, Needs(vec![Side::New]));
    assert_eq!(world.entered(ada, id, (Some(CURRENT), None), at(3)).await, Refused, "of the other side");
    let repeated = world.entered(ada, id, (Some(NEW), Some(99)), at(4)).await;
    assert!(matches!(repeated, Changed(_)), "a proven side is not asked again");
}

pub(super) async fn each_side_has_five_attempts_and_ten_an_hour(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let (id, _) = world.begun(ada, "eva", at(1)).await;
    for _ in 0..5 {
        assert_eq!(world.entered(ada, id, (Some(99), None), at(2)).await, Refused);
    }
    assert_eq!(world.entered(ada, id, (Some(NEW), None), at(2)).await, Refused);
    assert_eq!(world.entered(ada, id, (None, Some(CURRENT)), at(2)).await, Needs(vec![Side::New]));

    let (id, _) = world.begun(ada, "eva", at(3)).await;
    for _ in 0..4 {
        assert_eq!(world.entered(ada, id, (Some(99), None), at(4)).await, Refused);
    }
    assert_eq!(
        world.entered(ada, id, (Some(NEW), None), at(5)).await,
        Refused,
        "ten an hour, over all changes"
    );
    let (id, _) = world.begun(ada, "eva", at(3 + HOUR)).await;
    assert_eq!(world.entered(ada, id, (Some(NEW), None), at(4 + HOUR)).await, Needs(vec![Side::Current]));
}

pub(super) async fn a_side_with_thirty_wrong_codes_a_day_gets_a_long_one(world: World) {
    let ada = world.mover("ada", at(0)).await;
    for hour in 0..3 {
        for change in 0..2 {
            let now = at(hour * HOUR + change * MINUTE);
            let (id, _) = world.begun(ada, "eva", now).await;
            for _ in 0..5 {
                assert_eq!(world.entered(ada, id, (Some(99), None), now).await, Refused);
            }
        }
    }
    let now = at(3 * HOUR);
    world.mails(now).await;

    let (id, _) = world.begun(ada, "eva", now).await;

    let mails = world.mails(now).await;
    let sealed =
        |name: &str| &mails.iter().find(|mail| mail.recipient.email.key() == &key(name)).unwrap().sealed;
    assert_eq!(sealed("eva"), LONG);
    assert_ne!(sealed("ada"), LONG);
    let wrong = ConfirmEmailChange {
        new: Some(ShownCode::Code(mac(98), CodeForm::Long)),
        ..world.entering(ada, id, (None, None), STRANGER, now)
    };
    assert_eq!(world.confirm_email_change(wrong).await.unwrap().unwrap(), Refused);
    let right = ConfirmEmailChange {
        new: Some(ShownCode::Code(long(mac(NEW)), CodeForm::Long)),
        ..world.entering(ada, id, (None, None), STRANGER, now)
    };
    assert_eq!(world.confirm_email_change(right).await.unwrap().unwrap(), Needs(vec![Side::Current]));
}

pub(super) async fn a_malformed_code_is_refused_and_not_counted(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let (id, _) = world.begun(ada, "eva", at(1)).await;
    for _ in 0..6 {
        let confirm = ConfirmEmailChange {
            new: Some(ShownCode::Malformed),
            ..world.entering(ada, id, (None, None), STRANGER, at(2))
        };
        assert_eq!(world.confirm_email_change(confirm).await.unwrap().unwrap(), Refused);
    }

    assert_eq!(world.entered(ada, id, (Some(NEW), None), at(3)).await, Needs(vec![Side::Current]));
}

pub(super) async fn a_newer_change_replaces_the_older_with_its_codes(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let begin = world.email_change(ada, "eva", HOME, at(1)); // requested by a known client
    let older = begin.id;
    world.begin_email_change(begin).await.unwrap().unwrap();
    let mut begin = world.email_change(ada, "countess", STRANGER, at(2));
    let newer = begin.id;
    (begin.to_new.code.mac, begin.to_current.code.mac) = (mac(31), mac(32));
    world.begin_email_change(begin).await.unwrap().unwrap();

    assert_eq!(world.entered(ada, older, (Some(NEW), Some(CURRENT)), at(3)).await, NotFound);

    assert_eq!(world.entered(ada, newer, (Some(NEW), Some(CURRENT)), at(3)).await, Refused);
    assert!(matches!(world.entered(ada, newer, (Some(31), Some(32)), at(4)).await, Changed(_)));
    assert_eq!(world.user(ada.user).await.email, email("countess"));
}

pub(super) async fn a_change_is_confirmed_in_time_by_the_session_that_began_it(world: World) {
    let (ada, eve) = (world.mover("ada", at(0)).await, world.mover("eve", at(0)).await);
    let (id, _) = world.begun(ada, "eva", at(1)).await;
    let codes = (Some(NEW), Some(CURRENT));

    assert_eq!(world.entered(eve, id, codes, at(2)).await, NotFound);
    for session in [eve.session, world.session(at(0)).id] {
        let foreign = Mover { session, ..ada };
        assert_eq!(world.entered(foreign, id, codes, at(2)).await, NoSession);
        let begin = world.email_change(foreign, "eva", STRANGER, at(2));
        assert_eq!(world.begin_email_change(begin).await.unwrap().unwrap(), BegunEmailChange::NoSession);
    }
    let elsewhere = Mover { name: "adam", ..ada };
    assert_eq!(world.entered(elsewhere, id, codes, at(2)).await, Moved);
    let begin = world.email_change(elsewhere, "eva", STRANGER, at(2));
    assert_eq!(world.begin_email_change(begin).await.unwrap().unwrap(), BegunEmailChange::Moved);
    let late = at(1 + 30 * MINUTE);
    assert_eq!(world.entered(ada, id, codes, late).await, NotFound);
    assert_eq!(world.open_change(ada, late).await, None);
    let other = world.open_session(ada.user, at(2)).await.id;
    assert_eq!(world.entered(Mover { session: other, ..ada }, id, codes, at(3)).await, NotFound);
    assert!(matches!(world.entered(ada, id, codes, at(3)).await, Changed(_)));
}

pub(super) async fn a_limited_change_changes_nothing(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let takes = vec![super::fixtures::take("change", 1)];
    let begin = |world: &World| {
        let begin = world.email_change(ada, "eva", STRANGER, at(1));
        latchkey_store::BeginEmailChange { takes: takes.clone(), ..begin }
    };
    let first = begin(&world);
    let id = first.id;
    world.begin_email_change(first).await.unwrap().unwrap();

    assert!(world.begin_email_change(begin(&world)).await.unwrap().is_err());

    let confirm = world.entering(ada, id, (Some(mac(NEW)), None), STRANGER, at(1));
    let confirm = ConfirmEmailChange { takes, ..confirm };
    assert!(world.confirm_email_change(confirm).await.unwrap().is_err());
    assert_eq!(
        world.open_change(ada, at(1)).await.map(|change| (change.id, change.proven())),
        Some((id, vec![]))
    );
}

pub(super) async fn a_taken_address_gets_no_code_and_its_owner_is_told(world: World) {
    let ada = world.mover("ada", at(0)).await;
    world.verified("eve", at(0)).await;
    let banned = world.verified("bob", at(0)).await;
    world.ban(banned.id, at(0)).await;
    world.unverified("una", at(0)).await;
    for name in ["eve", "bob", "una"] {
        let (id, needs) = world.begun(ada, name, at(1)).await;

        assert_eq!(needs, [Side::New, Side::Current], "{name}");
        let mut told = vec![(MailKind::EmailChange, to("ada"))];
        if name == "eve" {
            told.push((MailKind::EmailChangeAttempt, to("eve")));
        }
        assert_eq!(world.told(at(1)).await, told, "{name}");
        assert_eq!(world.entered(ada, id, (Some(NEW), Some(CURRENT)), at(2)).await, Refused, "{name}");
    }
    assert_eq!(world.user(ada.user).await.email, email("ada"));
}

pub(super) async fn a_pending_account_goes_when_its_mailbox_is_proven(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let pending = world.pending("eva", at(0)).await;
    let (id, _) = world.begun(ada, "eva", at(1)).await;
    assert_eq!(world.entered(ada, id, (None, Some(CURRENT)), at(2)).await, Needs(vec![Side::New]));
    assert!(world.find_user(pending.id).await.unwrap().is_some());

    assert!(matches!(world.entered(ada, id, (Some(NEW), None), at(3)).await, Changed(_)));

    assert_eq!(world.find_user(pending.id).await.unwrap(), None);
    assert_eq!(world.verify(&key("eva"), mac(1), at(4)).await, VerifyOutcome::Refused);

    let bob = world.mover("bob", at(0)).await;
    let pending = world.pending("bert", at(4)).await;
    let (id, _) = world.begun(bob, "bert", at(5)).await;
    assert_eq!(world.entered(bob, id, (Some(NEW), None), at(6)).await, Needs(vec![Side::Current]));
    assert_eq!(world.find_user(pending.id).await.unwrap(), None, "the mailbox is proven before the other");
    world.pending("bert", at(7)).await;
    assert!(matches!(world.entered(bob, id, (None, Some(CURRENT)), at(8)).await, Changed(_)));
}

pub(super) async fn a_banned_pending_account_stays_and_keeps_its_address(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let pending = world.pending("eva", at(0)).await;
    world.ban(pending.id, at(0)).await;
    let (id, _) = world.begun(ada, "eva", at(1)).await;

    assert_eq!(world.entered(ada, id, (Some(NEW), Some(CURRENT)), at(2)).await, Refused);

    assert!(world.user(pending.id).await.is_banned());
}

pub(super) async fn an_address_lost_meanwhile_is_told_after_both_proofs(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let (id, _) = world.begun(ada, "eva", at(1)).await;
    world.verified("eva", at(2)).await;

    assert_eq!(world.entered(ada, id, (Some(NEW), None), at(3)).await, Needs(vec![Side::Current]));
    assert_eq!(world.entered(ada, id, (None, Some(CURRENT)), at(4)).await, Taken);

    assert_eq!(world.entered(ada, id, (Some(NEW), Some(CURRENT)), at(5)).await, NotFound);
    assert_eq!(world.user(ada.user).await.email, email("ada"));
}
