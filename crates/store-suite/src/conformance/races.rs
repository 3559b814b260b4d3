//! Cases of concurrent calls: one of twenty succeeds.

use std::future::Future;
use std::sync::Arc;

use latchkey_domain::audit::AuditKind;
use latchkey_domain::codes::{CodeBudget, Purpose};
use latchkey_domain::limits::LimitKey;
use serde_json::json;
use tokio::sync::Barrier;

use super::fixtures::{RACERS, STRANGER, World, at, key, lane, mac, object, password, take};
use super::guards::{fail, guard};
use super::numbered::entry;
use super::profiles::{handle, named, update};
use super::refresh::present;
use super::signing_keys::new_key;
use latchkey_store::{
    CodeLane, Entered, NewAccount, RefreshOutcome, SignUpOutcome, UpdateProfile, UpdateProfileOutcome,
    UserPosition,
};

use latchkey_domain::mail_schedule::MailSchedule;
use latchkey_domain::profile::ProfilePatch;

/// Starts all calls at once, and returns their results in the order of their numbers.
pub(super) async fn race<T, F>(world: &World, racer: impl Fn(World, usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let start = Arc::new(Barrier::new(RACERS));
    let racers: Vec<_> = (0..RACERS)
        .map(|number| {
            let (start, run) = (Arc::clone(&start), racer(world.clone(), number));
            tokio::spawn(async move {
                start.wait().await;
                run.await
            })
        })
        .collect();
    let mut answers = Vec::new();
    for racer in racers {
        answers.push(racer.await.unwrap());
    }
    answers
}

pub(super) fn count<T>(answers: &[T], wanted: impl Fn(&T) -> bool) -> usize {
    answers.iter().filter(|answer| wanted(answer)).count()
}

pub(super) async fn of_twenty_racers_one_makes_the_account(world: World) {
    let answers = race(&world, |world, number| async move {
        let name = if number % 2 == 0 { "ada" } else { "ADA" };
        let entry = entry(world.session(at(0)));
        world.create_account_and_enter(world.account(name, at(0)), entry).await.unwrap()
    })
    .await;

    assert_eq!(count(&answers, Option::is_some), 1);
    let page = world.users("", UserPosition::Offset(0), 100).await;
    assert_eq!(page.total, 1);
    assert_eq!(world.list_sessions(page.users[0].id, at(1)).await.unwrap().len(), 1);
}

pub(super) async fn of_twenty_pending_sign_ups_one_makes_the_account(world: World) {
    let answers = race(&world, |world, number| async move {
        let code = mac(u8::try_from(number).unwrap());
        world.sign_up_pending(world.sign_up("ada", password("secret"), code, at(0))).await.unwrap()
    })
    .await;

    assert_eq!(count(&answers, |answer| *answer == SignUpOutcome::Created), 1);
    assert_eq!(count(&answers, |answer| *answer == SignUpOutcome::Renewed), RACERS - 1);
    assert_eq!(world.users("", UserPosition::Offset(0), 100).await.total, 1);
    assert_eq!(world.mails(at(1)).await.len(), RACERS);
    let mut good = 0;
    let patient = CodeBudget { per_code: 100, per_hour: 100, per_day: 100 };
    for code in 0..RACERS {
        // One code is valid. Attempts counted so far must not prevent its verification.
        let fresh = latchkey_store::CodeAttempt {
            lane: CodeLane { budget: patient, ..lane(&key("ada"), STRANGER) },
            ..world.attempt(&key("ada"), mac(u8::try_from(code).unwrap()), at(1))
        };
        let outcome = world.verify_by_code(fresh, entry(world.session(at(1)))).await.unwrap().unwrap();
        good += usize::from(matches!(outcome, latchkey_store::VerifyOutcome::Entered(Entered::Session(_))));
    }
    assert_eq!(good, 1);
}

pub(super) async fn of_twenty_racers_one_uses_the_code(world: World) {
    let user = world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), Purpose::VerifyEmail, mac(1), at(0)).await;

    let answers =
        race(&world, |world, _| async move { world.verifies(&key("ada"), mac(1), at(1)).await }).await;

    assert_eq!(count(&answers, |won| *won), 1);
    assert_eq!(world.list_sessions(user.id, at(1)).await.unwrap().len(), 1);
}

pub(super) async fn twenty_guesses_at_once_are_counted_each(world: World) {
    world.unverified("ada", at(0)).await;
    world.send_code(&key("ada"), Purpose::VerifyEmail, mac(1), at(0)).await;

    let answers = race(&world, |world, number| async move {
        world.verifies(&key("ada"), mac(100 + u8::try_from(number).unwrap()), at(1)).await
    })
    .await;

    assert_eq!(count(&answers, |won| *won), 0);
    assert!(!world.verifies(&key("ada"), mac(1), at(2)).await, "the code has no attempt left");
}

pub(super) async fn of_twenty_racers_one_signs_in_by_the_link_token(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), Purpose::VerifyEmail, at(0)).await;

    let answers = race(&world, move |world, _| async move {
        matches!(
            world.verify_token(link, at(1)).await,
            latchkey_store::VerifyOutcome::Entered(Entered::Session(_))
        )
    })
    .await;

    assert_eq!(count(&answers, |won| *won), 1);
    assert_eq!(world.list_sessions(user.id, at(1)).await.unwrap().len(), 1);
}

pub(super) async fn of_twenty_racers_one_exchanges_the_code(world: World) {
    world.verified("ada", at(0)).await;
    world.send_code(&key("ada"), Purpose::ResetPassword, mac(1), at(0)).await;

    let answers =
        race(&world, |world, _| async move { world.exchange(&key("ada"), mac(1), at(1)).await }).await;

    let tokens: Vec<_> = answers.into_iter().flatten().collect();
    assert_eq!(tokens.len(), 1);
    assert!(world.can_reset(tokens[0], at(2)).await);
}

pub(super) async fn of_twenty_racers_one_reset_wins(world: World) {
    world.verified("ada", at(0)).await;
    let link = world.send_link(&key("ada"), Purpose::ResetPassword, at(0)).await;

    let answers = race(&world, move |world, number| async move {
        world.reset(link, &format!("secret{number}"), at(1)).await.is_some()
    })
    .await;

    assert_eq!(count(&answers, |won| *won), 1);
    let winner = answers.iter().position(|won| *won).unwrap();
    assert_eq!(
        world.candidate("ada", at(2)).await.unwrap().password,
        Some(password(&format!("secret{winner}")))
    );
}

pub(super) async fn of_twenty_racers_one_takes_the_username(world: World) {
    let answers = race(&world, |world, number| async move {
        let user = world.verified(&format!("p{number}"), at(0)).await;
        world.update_profile(update(user.id, handle("countess"))).await.unwrap()
    })
    .await;

    assert_eq!(count(&answers, |answer| matches!(answer, UpdateProfileOutcome::Updated(_))), 1);
    assert_eq!(count(&answers, |answer| *answer == UpdateProfileOutcome::UsernameTaken), RACERS - 1);
}

pub(super) async fn of_twenty_racers_one_changes_the_version(world: World) {
    let user = world.verified("ada", at(0)).await;

    let answers = race(&world, move |world, number| async move {
        let patch = named(&format!("Ada {number}"));
        world
            .update_profile(UpdateProfile { if_version: Some(vec![1]), ..update(user.id, patch) })
            .await
            .unwrap()
    })
    .await;

    assert_eq!(count(&answers, |answer| matches!(answer, UpdateProfileOutcome::Updated(_))), 1);
    assert_eq!(count(&answers, |answer| *answer == UpdateProfileOutcome::PreconditionFailed), RACERS - 1);
    assert_eq!(world.find_profile(user.id).await.unwrap().unwrap().version, 2);
}

pub(super) async fn of_twenty_edits_at_once_none_is_lost(world: World) {
    let user = world.verified("ada", at(0)).await;

    race(&world, move |world, number| async move {
        let custom = object(json!({format!("k{number}"): number}));
        world
            .update_profile(update(user.id, ProfilePatch { custom, ..ProfilePatch::default() }))
            .await
            .unwrap()
    })
    .await;

    let profile = world.find_profile(user.id).await.unwrap().unwrap();
    assert_eq!((profile.custom.len(), profile.version), (RACERS, i64::try_from(RACERS).unwrap() + 1));
}

pub(super) async fn of_twenty_racers_one_makes_the_missing_profile(world: World) {
    let user = world.create(NewAccount { profile: None, ..world.account("ada", at(0)) }).await;

    let answers = race(&world, move |world, number| async move {
        let create = Some(world.profile("", at(1)));
        let patch = named(&format!("Ada {number}"));
        world.update_profile(UpdateProfile { create, ..update(user.id, patch) }).await.unwrap()
    })
    .await;

    let mut ids: Vec<_> = answers
        .into_iter()
        .map(|answer| match answer {
            UpdateProfileOutcome::Updated(profile) => profile.id,
            other => panic!("{other:?}"),
        })
        .collect();
    ids.dedup();
    assert_eq!(ids, [world.find_profile(user.id).await.unwrap().unwrap().id]);
}

pub(super) async fn the_last_token_of_a_bucket_is_taken_once(world: World) {
    world.take(&[take("a", 2)], at(0)).await.unwrap().unwrap();

    let answers =
        race(&world, |world, _| async move { world.take(&[take("a", 2)], at(0)).await.unwrap().is_ok() })
            .await;

    assert_eq!(count(&answers, |won| *won), 1);
}

pub(super) async fn ten_failures_at_once_are_free_and_no_more(world: World) {
    let answers =
        race(&world, |world, _| async move { fail(&world, &guard("ada", "home"), at(0)).await }).await;

    assert_eq!(count(&answers, Option::is_none), 10);
}

pub(super) async fn of_twenty_guesses_at_once_the_right_one_counts_only_in_time(world: World) {
    let user = world.verified("ada", at(0)).await;
    let home = guard("ada", "home");
    for _ in 0..10 {
        fail(&world, &home, at(0)).await;
    }

    let answers = race(&world, move |world, _| {
        let home = guard("ada", "home");
        async move { world.sign_in(world.right(user.id, "secret", Some(&home), at(1))).await.unwrap() }
    })
    .await;

    assert_eq!(count(&answers, Result::is_err), RACERS);
    assert_eq!(home.pair, LimitKey::new("pair", &["ada", "home"]));
    assert!(world.list_sessions(user.id, at(1)).await.unwrap().is_empty());
}

pub(super) async fn of_twenty_instances_one_makes_the_signing_key(world: World) {
    let answers = race(&world, |world, _| async move {
        let key = new_key(&world, at(0));
        (key.id, world.ensure_signing_key(key).await.unwrap().id)
    })
    .await;

    let signing = answers[0].1;
    assert!(answers.iter().all(|(_, id)| *id == signing));
    assert_eq!(count(&answers, |(own, _)| *own == signing), 1);
    assert_eq!(world.list_signing_keys(at(1)).await.unwrap().len(), 1);
}

pub(super) async fn of_twenty_rotations_one_wins(world: World) {
    let first = world.ensure_signing_key(new_key(&world, at(0))).await.unwrap().id;

    let answers = race(&world, move |world, _| async move {
        let event = world.event(AuditKind::KeyRotated, at(1));
        world.rotate_signing_key(new_key(&world, at(1)), first, at(100), event).await.unwrap()
    })
    .await;

    assert_eq!(count(&answers, |won| *won), 1);
    assert_eq!(world.list_signing_keys(at(2)).await.unwrap().len(), 2);
}

pub(super) async fn no_mail_is_claimed_twice(world: World) {
    world.verified("ada", at(0)).await;
    for _ in 0..60 {
        world.send_code(&key("ada"), Purpose::ResetPassword, mac(1), at(0)).await;
    }

    let answers = race(&world, |world, _| async move {
        world.claim_mails(world.lease(at(1)), &MailSchedule::default(), 4, at(1)).await.unwrap()
    })
    .await;

    let mut ids: Vec<_> = answers.into_iter().flatten().map(|mail| mail.id).collect();
    assert_eq!(ids.len(), 60);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 60);
}

pub(super) async fn twenty_refreshes_at_once_make_one_lineage(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let shared = Arc::new(session.clone());

    let answers = race(&world, move |world, _| {
        let session = Arc::clone(&shared);
        async move { present(&world, &session, session.refresh, at(1)).await }
    })
    .await;

    let rotated = |answer: &(RefreshOutcome, _)| matches!(answer.0, RefreshOutcome::Rotated(_));
    assert_eq!(count(&answers, rotated), 1);
    let successor = answers.iter().find(|answer| rotated(answer)).unwrap().1;
    for (outcome, _) in answers.iter().filter(|answer| !rotated(answer)) {
        let RefreshOutcome::SameSuccessor { sealed, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(sealed, successor.as_bytes());
    }
    assert!(matches!(present(&world, &session, successor, at(2)).await.0, RefreshOutcome::Rotated(_)));
}
