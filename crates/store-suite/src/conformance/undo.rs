//! Cases of undo links, mailed links by which an owner reverses a change of the account.

use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::session::NewSession;
use latchkey_domain::undo::UndoableEvent;

use super::factor_acts::TwoStep;
use super::fixtures::{DAY, HOUR, World, at, key, mac, take};
use super::oauth_acts::google;
use latchkey_store::{UndoLink, UndoOutcome, UseUndoLink};

pub(super) async fn an_undo_link_tells_its_event(world: World) {
    let user = world.verified("ada", at(0)).await;
    let token = world.turn_on_with_undo(user.id, at(5)).await.1;

    let found = world.find_undo(token, &[], at(6)).await.unwrap().unwrap();

    assert_eq!(found, Some(UndoLink { event: UndoableEvent::TwoStepOn, happened_at: at(5) }));
    assert_eq!(world.find_undo(world.token(), &[], at(6)).await.unwrap().unwrap(), None);
    assert_eq!(world.find_undo(token, &[], at(5 + 3 * DAY)).await.unwrap().unwrap(), None, "expired");
}

pub(super) async fn an_undo_takes_two_step_back_with_all_that_is_open(world: World) {
    let user = world.verified("ada", at(0)).await;
    world.enter(google("1", "ada"), at(0)).await;
    let token = world.turn_on_with_undo(user.id, at(2 * DAY)).await.1;
    let session = world.list_sessions(user.id, at(2 * DAY)).await.unwrap()[0].id;
    let caller = NewSession { id: session, ..world.session(at(2 * DAY)) };
    world.link(user.id, &caller, google("2", "ada"), at(2 * DAY + HOUR)).await;
    let challenge = world.challenged(user.id, at(2 * DAY + HOUR)).await;
    let reset = world.reset_token("ada", at(2 * DAY + HOUR)).await;
    let now = at(2 * DAY + 2 * HOUR);
    world.mails(now).await;
    let link = world.use_undo(token, "ada", now);
    let event = link.writes.event.id;

    assert_eq!(world.undo(link).await.unwrap().unwrap(), UndoOutcome::Undone);

    let owner = world.user(user.id).await;
    assert!(!owner.has_two_step() && !owner.has_password);
    let factors = world.factors_of(user.id).await;
    assert_eq!((factors.totp.len(), factors.recovery_codes_left), (0, 0));
    let identities = world.list_identities(user.id).await.unwrap();
    assert_eq!(identities.iter().map(|one| one.subject.as_str()).collect::<Vec<_>>(), ["1"]);
    assert!(!world.lives(session, now).await);
    assert!(world.found(challenge, now).await.is_none());
    assert!(!world.can_reset(reset, now).await);
    assert_eq!(world.event_of(event).await.unwrap().user_id, Some(user.id));
    let mut kinds: Vec<_> = world.mails(now).await.iter().map(|mail| mail.kind).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, [MailKind::Reset, MailKind::Undone]);
    let token = world.exchange(&key("ada"), mac(9), now).await.unwrap();
    assert!(world.reset(token, "new", now).await.is_some(), "no second factor is needed");
}

pub(super) async fn an_identity_of_the_day_before_goes_as_well(world: World) {
    let user = world.verified("ada", at(0)).await;
    world.enter(google("1", "ada"), at(HOUR)).await;
    world.enter(google("2", "ada"), at(2 * HOUR)).await;
    let token = world.turn_on_with_undo(user.id, at(2 * HOUR + DAY)).await.1;
    let now = at(3 * HOUR + DAY);

    world.undo(world.use_undo(token, "ada", now)).await.unwrap().unwrap();

    let identities = world.list_identities(user.id).await.unwrap();
    assert_eq!(identities.iter().map(|one| one.subject.as_str()).collect::<Vec<_>>(), ["1"]);
}

pub(super) async fn an_undo_link_is_good_once(world: World) {
    let user = world.verified("ada", at(0)).await;
    let token = world.turn_on_with_undo(user.id, at(0)).await.1;
    assert_eq!(world.undo(world.use_undo(token, "ada", at(1))).await.unwrap().unwrap(), UndoOutcome::Undone);

    let again = world.undo(world.use_undo(token, "ada", at(2))).await.unwrap().unwrap();

    assert_eq!(again, UndoOutcome::Refused);
}

pub(super) async fn another_address_or_time_is_refused_and_counted(world: World) {
    let user = world.verified("ada", at(0)).await;
    let token = world.turn_on_with_undo(user.id, at(0)).await.1;
    let takes = vec![take("undo", 2)];
    let wrong = |name: &str| UseUndoLink { takes: takes.clone(), ..world.use_undo(token, name, at(1)) };

    for name in ["eve", "ada2"] {
        assert_eq!(world.undo(wrong(name)).await.unwrap().unwrap(), UndoOutcome::Refused);
    }

    assert!(world.undo(wrong("ada")).await.unwrap().is_err(), "wrong addresses took from the limit");
    assert!(world.find_undo(token, &takes, at(1)).await.unwrap().is_err());
    let late = world.use_undo(token, "ada", at(3 * DAY));
    assert_eq!(world.undo(late).await.unwrap().unwrap(), UndoOutcome::Refused);
    assert!(world.user(user.id).await.has_two_step());
    let unknown = world.use_undo(world.token(), "ada", at(1));
    assert_eq!(world.undo(unknown).await.unwrap().unwrap(), UndoOutcome::Refused);
}

pub(super) async fn a_banned_account_takes_nothing_back(world: World) {
    let user = world.verified("ada", at(0)).await;
    let token = world.turn_on_with_undo(user.id, at(0)).await.1;
    world.ban(user.id, at(1)).await;

    assert_eq!(world.find_undo(token, &[], at(2)).await.unwrap().unwrap(), None);
    let outcome = world.undo(world.use_undo(token, "ada", at(2))).await.unwrap().unwrap();
    assert_eq!(outcome, UndoOutcome::Refused);
}

pub(super) async fn the_mailbox_of_a_former_address_takes_nothing_back(world: World) {
    let user = world.verified("ada", at(0)).await;
    let token = world.turn_on_with_undo(user.id, at(0)).await.1;
    world.move_to(user.id, "eva", at(1)).await;

    assert_eq!(world.find_undo(token, &[], at(2)).await.unwrap().unwrap(), None);
    for name in ["ada", "eva"] {
        let outcome = world.undo(world.use_undo(token, name, at(2))).await.unwrap().unwrap();
        assert_eq!(outcome, UndoOutcome::Refused);
    }
}

pub(super) async fn an_undo_ends_the_links_of_later_events_alone(world: World) {
    let user = world.verified("ada", at(0)).await;
    let first = world.turn_on_with_undo(user.id, at(0)).await.1;
    let off_and_on = |now| {
        let world = world.clone();
        async move {
            let session = world.list_sessions(user.id, now).await.unwrap()[0].id;
            let off = latchkey_store::ChangeFactors {
                user_id: user.id,
                session_id: session,
                rp_id: None,
                change: (),
                event: world.event(latchkey_domain::audit::AuditKind::TwoStepOff, now),
                mail: None,
                now,
            };
            world.turn_two_step_off(off).await.unwrap();
            world.turn_on_with_undo(user.id, now).await.1
        }
    };
    let second = off_and_on(at(HOUR)).await;
    let third = off_and_on(at(2 * HOUR)).await;

    let outcome = world.undo(world.use_undo(second, "ada", at(3 * HOUR))).await.unwrap().unwrap();

    assert_eq!(outcome, UndoOutcome::Undone);
    assert!(!world.user(user.id).await.has_two_step(), "turned on since then");
    assert_eq!(world.find_undo(third, &[], at(3 * HOUR)).await.unwrap().unwrap(), None);
    assert!(world.find_undo(first, &[], at(3 * HOUR)).await.unwrap().unwrap().is_some());
}

pub(super) async fn an_undo_changes_no_other_account(world: World) {
    let TwoStep { user: eve, session, .. } = world.two_step("eve", at(0)).await;
    let ada = world.verified("ada", at(0)).await;
    let token = world.turn_on_with_undo(ada.id, at(0)).await.1;

    world.undo(world.use_undo(token, "ada", at(1))).await.unwrap().unwrap();

    assert!(world.user(eve.id).await.has_two_step() && world.lives(session.id, at(1)).await);
}
