//! Cases of an account's deletion that runs concurrently with its restoral, with the end of its grace period,
//! or with a sign-in.

use latchkey_domain::audit::AuditKind;

use super::fixtures::{DAY, RACERS, World, at};
use super::races::{count, race};
use latchkey_store::{Answered, Entered, SignInOutcome};

pub(super) async fn of_twenty_restorals_one_signs_in(world: World) {
    let ada = world.in_deletion("ada", at(0)).await;
    let challenge = world.challenged(ada.user, at(1)).await;

    let outcomes =
        race(&world, move |world, _| async move { world.judged(world.restoring(challenge, at(2))).await })
            .await;

    assert_eq!(count(&outcomes, |outcome| matches!(outcome, Answered::Entered(Entered::Session(_)))), 1);
    assert_eq!(count(&outcomes, |outcome| *outcome == Answered::Invalid), RACERS - 1);
    assert_eq!(world.list_sessions(ada.user, at(3)).await.unwrap().len(), 1);
}

pub(super) async fn an_account_is_restored_or_gone_but_never_both(world: World) {
    let ada = world.in_deletion("ada", at(0)).await;
    let now = at(14 * DAY);
    let challenge = world.challenged(ada.user, now).await;

    let outcomes = race(&world, move |world, number| async move {
        if number.is_multiple_of(2) {
            return matches!(world.judged(world.restoring(challenge, now)).await, Answered::Entered(_));
        }
        world.finish(now).await == 1
    })
    .await;

    assert_eq!(count(&outcomes, |won| *won), 1, "{outcomes:?}");
    let is_restored = outcomes.iter().step_by(2).any(|won| *won);
    let user = world.find_user(ada.user).await.unwrap();
    assert_eq!(user.map(|user| user.deletes_at), is_restored.then_some(None));
    let events = world.events().await;
    let happened = |kind| events.iter().any(|event| event.kind == kind);
    assert_eq!(happened(AuditKind::DeletionCancelled), is_restored);
    assert_eq!(happened(AuditKind::UserDeleted), !is_restored);
}

pub(super) async fn no_sign_in_beside_the_deletion_leaves_a_session(world: World) {
    let ada = world.mover("ada", at(0)).await;

    race(&world, move |world, number| async move {
        if number == 7 {
            return world.delete_account(world.deletion(ada, at(1))).await.unwrap().unwrap();
        }
        let sign_in = world.right(ada.user, "secret", None, at(1));
        matches!(world.sign_in(sign_in).await.unwrap().unwrap(), SignInOutcome::Entered(_))
    })
    .await;

    assert!(world.user(ada.user).await.is_in_deletion());
    assert!(world.list_sessions(ada.user, at(2)).await.unwrap().is_empty());
}

pub(super) async fn a_deletion_and_a_restoral_end_in_one_of_both(world: World) {
    let ada = world.in_deletion("ada", at(0)).await;
    let challenge = world.challenged(ada.user, at(1)).await;
    let restored = world.restoring(challenge, at(2));
    let latchkey_store::Completion::SignIn(completed, _) = &restored.completes else { unreachable!() };
    let session = completed.session.id;

    race(&world, move |world, number| {
        let restored = restored.clone();
        async move {
            if number.is_multiple_of(2) {
                return world.answer_challenge(restored).await.unwrap().is_ok();
            }
            let of = super::email_change_acts::Mover { session, ..ada };
            world.delete_account(world.deletion(of, at(3))).await.unwrap().unwrap()
        }
    })
    .await;

    let user = world.user(ada.user).await;
    assert_eq!(world.lives(session, at(4)).await, !user.is_in_deletion());
    assert_eq!(world.find_profile(ada.user).await.unwrap().is_some(), !user.is_in_deletion());
}
