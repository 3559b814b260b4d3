//! Cases of concurrent sign-ins with identities: one of twenty calls succeeds.

use super::fixtures::{RACERS, World, at};
use super::oauth_acts::{google, identity};
use super::races::{count, race};
use latchkey_store::{
    Entered, IdentityOutcome, LinkOutcome, SignInWithIdentity, StateOutcome, TakenCode, UnlinkOutcome,
    UsedToken, UserPosition,
};

pub(super) async fn of_twenty_racers_one_takes_the_flow(world: World) {
    let flow = world.flow(None, at(0));
    let state = flow.state;
    world.begin_flow(flow).await.unwrap();

    let answers =
        race(&world, move |world, _| async move { world.take_flow(state, at(1)).await.unwrap() }).await;

    assert_eq!(count(&answers, |answer| matches!(answer, StateOutcome::Taken(_))), 1);
    assert_eq!(count(&answers, |answer| matches!(answer, StateOutcome::Replayed { .. })), RACERS - 1);
}

pub(super) async fn of_twenty_racers_one_takes_the_oauth_code(world: World) {
    let code = world.oauth_code(google("1", "ada"), None, at(0));
    world.save_oauth_code(code.clone()).await.unwrap();

    let answers = race(&world, move |world, number| async move {
        // If the wrong verifier comes first, no call gets the identity.
        let verifier = if number == 7 { "guess" } else { "verifier" };
        (number, world.present_code(code.code, verifier, None, at(1)).await)
    })
    .await;

    let good = count(&answers, |(_, answer)| matches!(answer, TakenCode::Good { .. }));
    assert!(good <= 1);
    assert!(matches!(answers[7].1, TakenCode::Burnt(_) | TakenCode::Unknown));
}

pub(super) async fn of_twenty_racers_one_signs_in_with_the_token(world: World) {
    let token = Some(UsedToken { hash: world.token(), expires_at: at(600) });

    let answers = race(&world, move |world, _| async move {
        let sign_in = SignInWithIdentity { token, ..world.with_identity(google("1", "ada"), at(0)) };
        world.sign_in_with_identity(sign_in).await.unwrap()
    })
    .await;

    assert_eq!(count(&answers, |answer| matches!(answer, IdentityOutcome::Entered(Entered::Session(_)))), 1);
    assert_eq!(count(&answers, |answer| *answer == IdentityOutcome::Replayed), RACERS - 1);
}

pub(super) async fn twenty_first_sign_ins_of_one_identity_end_at_one_account(world: World) {
    let answers =
        race(&world, |world, _| async move { world.enter(google("1", "ada"), at(0)).await.id }).await;

    assert!(answers.iter().all(|id| *id == answers[0]));
    assert_eq!(world.users("", UserPosition::Offset(0), 100).await.total, 1);
    assert_eq!(world.list_identities(answers[0]).await.unwrap().len(), 1);
    assert_eq!(world.list_sessions(answers[0], at(1)).await.unwrap().len(), RACERS);
}

pub(super) async fn twenty_identities_of_one_address_end_at_one_account(world: World) {
    let answers = race(&world, |world, number| async move {
        world.enter(google(&number.to_string(), "ada"), at(0)).await.id
    })
    .await;

    assert!(answers.iter().all(|id| *id == answers[0]));
    assert_eq!(world.list_identities(answers[0]).await.unwrap().len(), RACERS);
}

pub(super) async fn a_take_over_happens_once(world: World) {
    let user = world.unverified("ada", at(0)).await;

    race(&world, |world, number| async move {
        world.enter(google(&number.to_string(), "ada"), at(1)).await;
    })
    .await;

    assert_eq!(world.list_identities(user.id).await.unwrap().len(), RACERS, "none removes another");
    assert_eq!(world.list_sessions(user.id, at(2)).await.unwrap().len(), RACERS);
}

pub(super) async fn of_twenty_accounts_one_links_the_identity(world: World) {
    let mut users = Vec::new();
    for number in 0..RACERS {
        let user = world.verified(&format!("user{number}"), at(0)).await;
        let session = world.open_session(user.id, at(0)).await;
        users.push((user.id, session));
    }
    let racers = users.clone();

    let answers = race(&world, move |world, number| {
        let (user_id, session) = racers[number].clone();
        async move { world.link(user_id, &session, google("1", "other"), at(1)).await }
    })
    .await;

    assert_eq!(count(&answers, |answer| matches!(answer, LinkOutcome::Linked(_))), 1);
    assert_eq!(count(&answers, |answer| *answer == LinkOutcome::Taken), RACERS - 1);
}

pub(super) async fn a_link_and_a_sign_in_end_at_one_account(world: World) {
    let ada = world.verified("ada", at(0)).await;
    let session = world.open_session(ada.id, at(0)).await;

    race(&world, move |world, number| {
        let session = session.clone();
        async move {
            if number % 2 == 0 {
                world.link(ada.id, &session, google("1", "eve"), at(1)).await;
            } else {
                world.enter(google("1", "eve"), at(1)).await;
            }
        }
    })
    .await;

    let owner = world.enter(google("1", "eve"), at(2)).await;
    let all = world.users("", UserPosition::Offset(0), 100).await;
    let linked: usize = all.users.iter().map(|user| user.identities.len()).sum();
    assert_eq!((linked, owner.providers().contains(&"google")), (1, true));
}

pub(super) async fn of_twenty_concurrent_unlinks_one_way_to_sign_in_stays(world: World) {
    let user = world.enter(google("0", "ada"), at(0)).await;
    for number in 1..RACERS {
        world.enter(google(&number.to_string(), "ada"), at(0)).await;
    }

    let answers = race(&world, move |world, number| async move {
        world.unlink(user.id, "google", Some(&number.to_string()), at(1)).await
    })
    .await;

    assert_eq!(count(&answers, |answer| matches!(answer, UnlinkOutcome::Unlinked(_))), RACERS - 1);
    assert_eq!(count(&answers, |answer| *answer == UnlinkOutcome::LastWayIn), 1);
    assert_eq!(world.list_identities(user.id).await.unwrap().len(), 1);
}

pub(super) async fn a_way_to_sign_in_stays_while_the_password_is_removed(world: World) {
    // An unverified account has a password and an identity. Its owner takes the account over while the identity is
    // being unlinked.
    let user = world.unverified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    world.link(user.id, &session, identity("github", "1", None, false), at(0)).await;

    race(&world, move |world, number| async move {
        if number == 0 {
            world.enter(google("1", "ada"), at(1)).await;
        } else {
            world.unlink(user.id, if number % 2 == 0 { "github" } else { "google" }, None, at(1)).await;
        }
    })
    .await;

    let left = world.user(user.id).await;
    assert!(!left.providers().is_empty(), "a way in is left");
}
