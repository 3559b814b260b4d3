//! Cases of concurrent calls on second factors and challenges: one of them succeeds.

use latchkey_domain::audit::AuditKind;

use super::factor_acts::{RECOVERY_CODES, TwoStep, second_factor_guard};
use super::fixtures::{RACERS, World, at, key, mac};
use super::races::{count, race};
use latchkey_store::{AnswerChallenge, Answered, ChangedFactors, ConfirmedTotp, Entered, UndoOutcome};

const SIGNED_IN: fn(&Answered) -> bool =
    |answered| matches!(answered, Answered::Entered(Entered::Session(_)));

pub(super) async fn of_twenty_right_answers_one_wins(world: World) {
    let TwoStep { user, factor, .. } = world.two_step("ada", at(0)).await;
    let challenge = world.challenged(user.id, at(1)).await;

    let answers = race(&world, move |world, number| async move {
        let step = 200 + i64::try_from(number).unwrap();
        let answer = world.totp_answer(challenge, factor, step, at(1));
        world.judged(AnswerChallenge { guard: Some(second_factor_guard("ada", "home")), ..answer }).await
    })
    .await;

    assert_eq!(count(&answers, SIGNED_IN), 1);
    assert_eq!(count(&answers, |answered| *answered == Answered::Invalid), RACERS - 1);
}

pub(super) async fn a_step_is_taken_once_by_many_challenges(world: World) {
    let TwoStep { user, factor, .. } = world.two_step("ada", at(0)).await;

    let answers = race(&world, move |world, _| async move {
        let challenge = world.challenged(user.id, at(1)).await;
        world.judged(world.totp_answer(challenge, factor, 200, at(1))).await
    })
    .await;

    assert_eq!(count(&answers, SIGNED_IN), 1);
    assert_eq!(count(&answers, |answered| *answered == Answered::Wrong), RACERS - 1);
}

pub(super) async fn a_recovery_code_is_taken_once_by_many_challenges(world: World) {
    let TwoStep { user, .. } = world.two_step("ada", at(0)).await;

    let answers = race(&world, move |world, _| async move {
        let challenge = world.challenged(user.id, at(1)).await;
        world.judged(world.recovery_answer(challenge, 0, RECOVERY_CODES, at(1))).await
    })
    .await;

    assert_eq!(count(&answers, SIGNED_IN), 1);
    assert_eq!(count(&answers, |answered| *answered == Answered::Wrong), RACERS - 1);
    assert_eq!(world.factors_of(user.id).await.recovery_codes_left, 9);
}

pub(super) async fn two_recovery_codes_at_once_are_mailed_with_their_numbers(world: World) {
    let TwoStep { user, .. } = world.two_step("ada", at(0)).await;

    let answers = race(&world, move |world, number| async move {
        let challenge = world.challenged(user.id, at(1)).await;
        let code = u8::try_from(number % 2).unwrap();
        world.judged(world.recovery_answer(challenge, code, RECOVERY_CODES, at(1))).await
    })
    .await;

    assert_eq!(count(&answers, SIGNED_IN), 1);
    assert_eq!(
        count(&answers, |answered| *answered == Answered::Moved),
        RACERS / 2,
        "those of the other code"
    );
    assert_eq!(world.factors_of(user.id).await.recovery_codes_left, 9);
}

pub(super) async fn of_twenty_wrong_answers_five_are_judged(world: World) {
    let TwoStep { user, .. } = world.two_step("ada", at(0)).await;
    let challenge = world.challenged(user.id, at(1)).await;

    let answers = race(&world, move |world, _| async move {
        let wrong = world.wrong(challenge, at(1));
        world.judged(AnswerChallenge { guard: Some(second_factor_guard("ada", "home")), ..wrong }).await
    })
    .await;

    assert_eq!(count(&answers, |answered| *answered == Answered::Wrong), 5);
    assert_eq!(count(&answers, |answered| *answered == Answered::Invalid), RACERS - 5);
}

pub(super) async fn concurrent_failures_do_not_exceed_the_guess_limit(world: World) {
    let TwoStep { user, .. } = world.two_step("ada", at(0)).await;

    let answers = race(&world, move |world, _| async move {
        let challenge = world.challenged(user.id, at(1)).await;
        let wrong = world.wrong(challenge, at(1));
        let answer = AnswerChallenge { guard: Some(second_factor_guard("ada", "home")), ..wrong };
        world.answer_challenge(answer).await.unwrap()
    })
    .await;

    assert_eq!(count(&answers, Result::is_ok), 10);
}

pub(super) async fn two_step_is_turned_on_once(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let id = world.pend(user.id, session.id, at(1)).await;

    let answers = race(&world, move |world, number| async move {
        let step = 100 + i64::try_from(number).unwrap();
        world.confirm(user.id, session.id, id, Some(step), at(2)).await
    })
    .await;

    assert_eq!(count(&answers, |confirmed| matches!(confirmed, ConfirmedTotp::TurnedOn(..))), 1);
    assert_eq!(count(&answers, |confirmed| *confirmed == ConfirmedTotp::NoEnroller), RACERS - 1);
    assert_eq!(world.list_sessions(user.id, at(3)).await.unwrap().len(), 1);
    assert_eq!(world.factors_of(user.id).await.recovery_codes_left, RECOVERY_CODES);
}

pub(super) async fn a_sign_in_that_races_with_two_step_leaves_no_session(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let id = world.pend(user.id, session.id, at(1)).await;

    race(&world, move |world, number| async move {
        if number == 0 {
            let confirmed = world.confirm(user.id, session.id, id, Some(7), at(2)).await;
            assert!(matches!(confirmed, ConfirmedTotp::TurnedOn(..)));
        } else {
            let sign_in = world.right(user.id, "secret", None, at(2));
            world.sign_in(sign_in).await.unwrap().unwrap();
        }
    })
    .await;

    assert_eq!(world.list_sessions(user.id, at(3)).await.unwrap().len(), 1, "that of the confirmation");
}

pub(super) async fn a_factor_removed_while_it_answers_is_used_before_or_not_at_all(world: World) {
    for round in 0..4 {
        let name = format!("ada{round}");
        let two_step = world.two_step(&name, at(0)).await;
        let (user, session) = (two_step.user.id, two_step.session.id);
        let second = world.pend(user, session, at(1)).await;
        world.confirm(user, session, second, Some(7), at(1)).await;
        let challenge = world.challenged(user, at(2)).await;
        let remove = world.factor_change(&two_step, second, AuditKind::TotpRemoved, at(3));
        let answer = world.totp_answer(challenge, second, 200, at(3));

        let (removed, answered) = tokio::join!(world.remove_totp(remove), world.judged(answer));

        assert_eq!(removed.unwrap(), ChangedFactors::Changed(()));
        assert!(SIGNED_IN(&answered) || answered == Answered::Invalid, "{answered:?}");
        assert_eq!(world.factors_of(user).await.totp.len(), 1);
    }
}

pub(super) async fn of_twenty_undo_calls_one_takes_the_event_back(world: World) {
    let user = world.verified("ada", at(0)).await;
    let token = world.turn_on_with_undo(user.id, at(0)).await.1;

    let answers = race(&world, move |world, _| async move {
        world.undo(world.use_undo(token, "ada", at(1))).await.unwrap().unwrap()
    })
    .await;

    assert_eq!(count(&answers, |outcome| *outcome == UndoOutcome::Undone), 1);
    assert_eq!(count(&answers, |outcome| *outcome == UndoOutcome::Refused), RACERS - 1);
    assert!(world.exchange(&key("ada"), mac(9), at(2)).await.is_some());
}
