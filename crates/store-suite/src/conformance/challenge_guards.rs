//! Cases of the guess limits of second factors.

use std::time::Duration;

use latchkey_domain::guess_limits::{SECOND_FACTOR_ACCOUNT_LIMIT, SECOND_FACTOR_PAIR_LIMIT};
use latchkey_domain::limits::Limited;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::time::Timestamp;

use super::factor_acts::{TwoStep, second_factor_guard};
use super::fixtures::{DAY, HOUR, World, at};
use super::guards::guard;
use latchkey_store::{AnswerChallenge, Answered, Completion, Entered, ListMails};

/// Begins a sign-in, and makes a wrong answer to its challenge, sent by this client.
async fn wrong(world: &World, two_step: &TwoStep, client: &str, now: Timestamp) -> AnswerChallenge {
    let challenge = world.challenged(two_step.user.id, now).await;
    AnswerChallenge { guard: Some(second_factor_guard("ada", client)), ..world.wrong(challenge, now) }
}

async fn fail(world: &World, two_step: &TwoStep, client: &str, times: u32, now: Timestamp) {
    for _ in 0..times {
        assert_eq!(world.judged(wrong(world, two_step, client, now).await).await, Answered::Wrong);
    }
}

/// Begins a sign-in, and makes a right answer to its challenge, sent by this client, with the TOTP code of
/// this time step.
async fn right(
    world: &World,
    two_step: &TwoStep,
    client: &str,
    step: i64,
    now: Timestamp,
) -> AnswerChallenge {
    let challenge = world.challenged(two_step.user.id, now).await;
    let mut completed = world.completed(now);
    completed.guard = Some(guard("ada", client));
    AnswerChallenge {
        guard: Some(second_factor_guard("ada", client)),
        completes: Completion::SignIn(Box::new(completed), Box::new(world.new_challenge(now))),
        ..world.totp_answer(challenge, two_step.factor, step, now)
    }
}

pub(super) async fn the_eleventh_answer_of_a_client_waits(world: World) {
    let two_step = world.two_step("ada", at(0)).await;
    fail(&world, &two_step, "home", 10, at(0)).await;
    let answer = right(&world, &two_step, "home", 200, at(600)).await;
    let before = world.events().await.len();

    let limited = world.limited(answer.clone()).await;

    let retry_after = Duration::from_mins(50);
    assert_eq!(limited, Some(Limited { limit: SECOND_FACTOR_PAIR_LIMIT, retry_after }));
    assert_eq!(world.events().await.len(), before, "nothing is counted");
    let elsewhere = AnswerChallenge { guard: Some(second_factor_guard("ada", "office")), ..answer };
    assert!(
        matches!(world.judged(elsewhere).await, Answered::Entered(Entered::Session(_))),
        "nothing was judged"
    );
    let later = right(&world, &two_step, "home", 201, at(HOUR + 1)).await;
    assert!(matches!(world.judged(later).await, Answered::Entered(Entered::Session(_))));
}

pub(super) async fn beyond_thirty_a_day_known_clients_alone_answer(world: World) {
    let two_step = world.two_step("ada", at(0)).await;
    let known = right(&world, &two_step, "home", 200, at(0)).await;
    assert!(
        matches!(world.judged(known).await, Answered::Entered(Entered::Session(_))),
        "makes the client known"
    );
    for client in ["one", "two", "three"] {
        fail(&world, &two_step, client, 10, at(1)).await;
    }

    let stranger = right(&world, &two_step, "four", 201, at(2)).await;
    let limited = world.limited(stranger).await.unwrap();
    assert_eq!(limited.limit, SECOND_FACTOR_ACCOUNT_LIMIT);
    let owner = right(&world, &two_step, "home", 202, at(3)).await;
    assert!(matches!(world.judged(owner).await, Answered::Entered(Entered::Session(_))));
    let next_day = right(&world, &two_step, "four", 203, at(DAY + 2)).await;
    assert!(matches!(world.judged(next_day).await, Answered::Entered(Entered::Session(_))));
}

pub(super) async fn a_success_ends_the_failures_in_a_row_and_no_others(world: World) {
    let two_step = world.two_step("ada", at(0)).await;
    let with_row = |answer: AnswerChallenge| {
        let guard = answer
            .guard
            .map(|guard| latchkey_domain::guess_limits::SecondFactorGuard { most_in_a_row: 3, ..guard });
        AnswerChallenge { guard, ..answer }
    };
    fail(&world, &two_step, "one", 2, at(0)).await;
    let success = with_row(right(&world, &two_step, "two", 200, at(1)).await);
    assert!(matches!(world.judged(success).await, Answered::Entered(Entered::Session(_))));
    fail(&world, &two_step, "one", 2, at(2)).await;
    let success = with_row(right(&world, &two_step, "three", 201, at(3)).await);
    assert!(matches!(world.judged(success).await, Answered::Entered(Entered::Session(_))), "two in a row");

    fail(&world, &two_step, "one", 3, at(4)).await;
    let weeks_later = with_row(right(&world, &two_step, "four", 202, at(30 * DAY)).await);
    assert!(world.limited(weeks_later).await.is_some(), "no time ends a row");
    fail(&world, &two_step, "one", 3, at(5)).await;
    let tenth = right(&world, &two_step, "one", 203, at(6)).await;
    assert!(world.limited(tenth).await.is_some(), "no success cleared those of the client");
}

pub(super) async fn the_fifth_failure_of_a_day_is_mailed_once(world: World) {
    let two_step = world.two_step("ada", at(0)).await;
    let told = async || {
        let mails = world.list_mails(&ListMails::newest(None, 100)).await.unwrap().mails;
        mails.iter().filter(|mail| mail.kind == MailKind::SecondFactorFailed).count()
    };
    fail(&world, &two_step, "one", 4, at(1)).await;
    assert_eq!(told().await, 0);

    fail(&world, &two_step, "two", 5, at(3)).await;

    assert_eq!(told().await, 1);
    fail(&world, &two_step, "two", 4, at(2 * DAY)).await;
    assert_eq!(told().await, 1);
    fail(&world, &two_step, "two", 1, at(2 * DAY)).await;
    assert_eq!(told().await, 2, "another day");
}

pub(super) async fn failures_without_guess_limits_count_on_the_challenge_alone(world: World) {
    let two_step = world.two_step("ada", at(0)).await;
    for _ in 0..40 {
        let challenge = world.challenged(two_step.user.id, at(1)).await;
        assert_eq!(world.judged(world.wrong(challenge, at(1))).await, Answered::Wrong);
    }

    let answer = right(&world, &two_step, "home", 200, at(2)).await;
    assert!(matches!(world.judged(answer).await, Answered::Entered(Entered::Session(_))));
}
