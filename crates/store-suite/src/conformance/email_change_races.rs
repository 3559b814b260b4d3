//! Cases of changes of an address that run concurrently with each other, with their undo, or with sign-ups at
//! the old or new address.

use super::email_change_acts::{CURRENT, NEW};
use super::fixtures::{RACERS, STRANGER, World, at, email, key, mac};
use super::numbered::entry;
use super::races::{count, race};
use latchkey_store::{ConfirmedEmailChange, CreateOutcome, UndoOutcome};

use ConfirmedEmailChange::{Changed, Moved, NotFound, Taken};

pub(super) async fn of_twenty_confirmations_one_changes_the_address(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let (id, _) = world.begun(ada, "eva", at(1)).await;

    let outcomes = race(&world, move |world, _| async move {
        world.entered(ada, id, (Some(NEW), Some(CURRENT)), at(2)).await
    })
    .await;

    assert_eq!(count(&outcomes, |outcome| matches!(outcome, Changed(_))), 1, "{outcomes:?}");
    assert_eq!(count(&outcomes, |outcome| matches!(outcome, Moved | NotFound)), RACERS - 1, "{outcomes:?}");
    assert_eq!(world.user(ada.user).await.email, email("eva"));
}

pub(super) async fn wrong_codes_of_twenty_racers_are_all_counted(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let (id, _) = world.begun(ada, "eva", at(1)).await;

    race(&world, move |world, _| async move { world.entered(ada, id, (Some(99), None), at(2)).await }).await;

    let (id, _) = world.begun(ada, "eva", at(3)).await;
    let right = world.entered(ada, id, (Some(NEW), None), at(4)).await;
    assert_eq!(right, ConfirmedEmailChange::Refused, "ten an hour are used up");
}

pub(super) async fn of_twenty_accounts_one_gets_the_address(world: World) {
    const NAMES: [&str; RACERS] =
        ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"];
    let mut all = Vec::new();
    for name in NAMES {
        let of = world.mover(name, at(0)).await;
        all.push((of, world.begun(of, "wanted", at(1)).await.0));
    }

    let outcomes = race(&world, move |world, number| {
        let (of, id) = all[number];
        async move { world.entered(of, id, (Some(NEW), Some(CURRENT)), at(2)).await }
    })
    .await;

    assert_eq!(count(&outcomes, |outcome| matches!(outcome, Changed(_))), 1, "{outcomes:?}");
    assert_eq!(count(&outcomes, |outcome| *outcome == Taken), RACERS - 1, "{outcomes:?}");
}

pub(super) async fn no_racer_gets_an_address_that_is_being_left(world: World) {
    let ada = world.mover("ada", at(0)).await;
    let (id, _) = world.begun(ada, "eva", at(1)).await;

    let got = race(&world, move |world, number| async move {
        match number % 4 {
            0 if number == 0 => {
                let outcome = world.entered(ada, id, (Some(NEW), Some(CURRENT)), at(2)).await;
                assert!(matches!(outcome, Changed(_)), "{outcome:?}");
                false
            }
            0 | 1 => {
                let (account, session) = (world.account("ada", at(2)), world.session(at(2)));
                world.create_account_and_enter(account, entry(session)).await.unwrap().is_some()
            }
            2 => {
                let outcome = world.create_account(world.account("ada", at(2))).await.unwrap();
                outcome != CreateOutcome::EmailTaken
            }
            _ => {
                let sign_up = world.sign_up("ada", super::fixtures::password("x"), mac(1), at(2));
                world.sign_up_pending(sign_up).await.unwrap() == latchkey_store::SignUpOutcome::Created
            }
        }
    })
    .await;

    assert_eq!(count(&got, |got| *got), 0);
    assert_eq!(world.find_user_by_email(&key("ada")).await.unwrap(), None);
}

pub(super) async fn no_racer_keeps_the_owner_from_undoing(world: World) {
    let (undo, _) = { world.moved(world.mover("ada", at(0)).await, "eva", at(1)).await };

    let outcomes = race(&world, move |world, number| async move {
        if number.is_multiple_of(2) {
            return Some(world.undo(world.use_undo(undo, "ada", at(2))).await.unwrap().unwrap());
        }
        let (account, session) = (world.account("ada", at(2)), world.session(at(2)));
        assert!(world.create_account_and_enter(account, entry(session)).await.unwrap().is_none());
        None
    })
    .await;

    assert_eq!(count(&outcomes, |outcome| *outcome == Some(UndoOutcome::Undone)), 1, "{outcomes:?}");
    assert!(world.find_user_by_email(&key("ada")).await.unwrap().is_some());
}

pub(super) async fn an_address_is_changed_or_undone_but_never_half(world: World) {
    let (undo, eva) = { world.moved(world.mover("ada", at(0)).await, "eva", at(1)).await };
    let (id, _) = world.begun(eva, "eve", at(2)).await;
    let confirm = world.entering(eva, id, (Some(mac(NEW)), Some(mac(CURRENT))), STRANGER, at(3));
    let later = confirm.writes.undo.unwrap().hash;

    let changing = world.confirm_email_change(confirm);
    let undoing = world.undo(world.use_undo(undo, "ada", at(3)));
    let (changed, undone) = tokio::join!(changing, undoing);

    let is_changed = matches!(changed.unwrap().unwrap(), Changed(_));
    assert_eq!(undone.unwrap().unwrap(), UndoOutcome::Undone, "changed: {is_changed}");
    let user = world.user(eva.user).await;
    assert_eq!((user.email, user.has_password), (email("ada"), false));
    assert_eq!(world.find_undo(later, &[], at(4)).await.unwrap().unwrap(), None);
    assert!(!world.lives(eva.session, at(4)).await);
}
