//! Cases of concurrent calls on passkeys: one of them succeeds.

use latchkey_domain::passkey::{CredentialId, MAX_PASSKEYS};

use super::fixtures::{RACERS, World, at};
use super::races::{count, race};
use latchkey_store::{
    Answered, ChangedFactors, Enroller, Entered, PasskeySignIn, RegisterPasskey, RegisteredPasskey,
    SignInWithPasskey,
};

pub(super) async fn of_twenty_uses_of_a_ceremony_one_registers(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let enroller = Enroller::Session(user.id, session.id);
    world.begin_registration(enroller.clone(), 1, at(0)).await;
    let ceremony = world.ceremony(at(0));

    let outcomes = race(&world, move |world, _| {
        let enroller = enroller.clone();
        async move {
            let register = RegisterPasskey { ceremony, ..world.registration(enroller, at(1)) };
            world.register_passkey(register).await.unwrap()
        }
    })
    .await;

    assert_eq!(count(&outcomes, |outcome| matches!(outcome, RegisteredPasskey::Added(_))), 1);
    assert_eq!(count(&outcomes, |outcome| *outcome == RegisteredPasskey::CeremonyUsed), RACERS - 1);
}

pub(super) async fn of_twenty_accounts_one_registers_a_credential(world: World) {
    let credential = CredentialId::parse(&[7; 32]).unwrap();
    let outcomes = race(&world, move |world, number| {
        let credential = credential.clone();
        async move {
            let user = world.verified(&format!("user{number}"), at(0)).await;
            let session = world.open_session(user.id, at(0)).await;
            let enroller = Enroller::Session(user.id, session.id);
            world.begin_registration(enroller.clone(), 1, at(0)).await;
            let mut register = world.registration(enroller, at(1));
            register.passkey.credential_id = credential;
            world.register_passkey(register).await.unwrap()
        }
    })
    .await;

    assert_eq!(count(&outcomes, |outcome| matches!(outcome, RegisteredPasskey::Added(_))), 1);
    assert_eq!(count(&outcomes, |outcome| *outcome == RegisteredPasskey::Exists), RACERS - 1);
}

pub(super) async fn twenty_registrations_at_once_do_not_exceed_the_maximum(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    for _ in 0..MAX_PASSKEYS - 5 {
        world.add_passkey(user.id, session.id, at(0)).await;
    }

    let outcomes =
        race(&world, move |world, _| async move { world.register(user.id, session.id, at(1)).await }).await;

    assert_eq!(count(&outcomes, |outcome| matches!(outcome, RegisteredPasskey::Added(_))), 5);
    assert_eq!(world.user(user.id).await.passkeys.len(), 20);
}

pub(super) async fn of_twenty_uses_of_a_ceremony_one_signs_in(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let passkey = world.add_passkey(user.id, session.id, at(0)).await;
    let ceremony = world.ceremony(at(0));

    let outcomes = race(&world, move |world, _| async move {
        let sign_in = SignInWithPasskey { ceremony, ..world.passkey_sign_in(passkey.id, 6, at(1)) };
        world.sign_in_with_passkey(sign_in).await.unwrap()
    })
    .await;

    assert_eq!(count(&outcomes, |outcome| matches!(outcome, PasskeySignIn::Entered(_))), 1);
    assert_eq!(count(&outcomes, |outcome| *outcome == PasskeySignIn::CeremonyUsed), RACERS - 1);
}

pub(super) async fn a_counter_is_accepted_once_by_many_ceremonies(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let passkey = world.add_passkey(user.id, session.id, at(0)).await;

    let outcomes = race(&world, move |world, _| async move {
        world.sign_in_with_passkey(world.passkey_sign_in(passkey.id, 6, at(1))).await.unwrap()
    })
    .await;

    assert_eq!(count(&outcomes, |outcome| matches!(outcome, PasskeySignIn::Entered(_))), 1);
    assert_eq!(count(&outcomes, |outcome| *outcome == PasskeySignIn::Refused), RACERS - 1);
}

pub(super) async fn of_twenty_answers_by_passkey_one_wins(world: World) {
    let two_step = world.two_step("ada", at(0)).await;
    let passkey = world.add_passkey(two_step.user.id, two_step.session.id, at(0)).await;
    let challenge = world.challenged(two_step.user.id, at(1)).await;
    let options = world.ask_for_passkey(challenge, at(1)).await.unwrap();

    let outcomes = race(&world, move |world, _| async move {
        world.judged(world.passkey_answer(challenge, options, (passkey.id, 6), at(2))).await
    })
    .await;

    assert_eq!(count(&outcomes, |outcome| matches!(outcome, Answered::Entered(Entered::Session(_)))), 1);
    assert_eq!(count(&outcomes, |outcome| *outcome == Answered::Invalid), RACERS - 1);
}

pub(super) async fn of_two_last_passkeys_one_stays(world: World) {
    let user = world.enter(super::oauth_acts::google("1", "ada"), at(0)).await;
    let session = world.list_sessions(user.id, at(0)).await.unwrap()[0].id;
    let first = world.add_passkey(user.id, session, at(0)).await.id;
    let second = world.add_passkey(user.id, session, at(0)).await.id;

    let outcomes = race(&world, move |world, number| async move {
        let id = if number % 2 == 0 { first } else { second };
        world.take_passkey((user.id, session), id, at(1)).await
    })
    .await;

    assert_eq!(count(&outcomes, |outcome| matches!(outcome, ChangedFactors::Changed(_))), 1);
    assert_eq!(world.passkeys_of(user.id).await.len(), 1);
}
