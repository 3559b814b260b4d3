//! Cases of the sign-in with a passkey.

use latchkey_domain::challenge::SecondFactorPolicy;
use latchkey_domain::ids::{PasskeyId, SessionId};
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::passkey::{CredentialId, Passkey};
use latchkey_domain::session::Level;
use latchkey_domain::user::User;

use super::fixtures::{MINUTE, World, at};
use super::numbered::rules;
use super::passkey_acts::rp_id;
use latchkey_store::{Entered, FoundPasskey, PasskeySignIn, ShownPasskey, SignInWithPasskey};

/// Creates a verified account with a password, a session and a passkey whose signature counter is 5.
async fn owner(world: &World) -> (User, SessionId, Passkey) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await.id;
    let passkey = world.add_passkey(user.id, session, at(0)).await;
    world.mails(at(0)).await;
    (user, session, passkey)
}

/// Reads the stored signature counter of a passkey.
async fn counter(world: &World, passkey: &Passkey) -> u32 {
    world.known_passkey(&passkey.credential_id, &rp_id()).await.unwrap().0.counter
}

async fn outcome(world: &World, sign_in: SignInWithPasskey) -> PasskeySignIn {
    world.sign_in_with_passkey(sign_in).await.unwrap()
}

pub(super) async fn a_passkey_opens_a_session_of_level_two(world: World) {
    let (user, _, passkey) = owner(&world).await;
    let sign_in = world.passkey_sign_in(passkey.id, 6, at(1));
    let (id, event) = (sign_in.entry.session.id, sign_in.event.id);

    let entered = outcome(&world, sign_in).await;

    assert!(matches!(entered, PasskeySignIn::Entered(Entered::Session(owner)) if owner.id == user.id));
    let live = world.find_live_session(id, at(2)).await.unwrap().unwrap();
    assert_eq!((live.session.level, live.session.methods.to_stored().as_str()), (Level::Two, "swk mfa"));
    assert_eq!(world.event_of(event).await.unwrap().session_id, Some(id));
    let stored = &world.passkeys_of(user.id).await[0];
    assert!(stored.is_backed_up, "the backup state is that of the last use");
    assert_eq!((stored.last_used_at, counter(&world, &passkey).await), (Some(at(1)), 6));
}

pub(super) async fn a_passkey_is_never_challenged(world: World) {
    let two_step = world.two_step("ada", at(0)).await;
    let passkey = world.add_passkey(two_step.user.id, two_step.session.id, at(0)).await;
    for (counter, policy) in [(6, SecondFactorPolicy::Optional), (7, SecondFactorPolicy::Required)] {
        let mut sign_in = world.passkey_sign_in(passkey.id, counter, at(1));
        sign_in.entry.rules = rules(policy);
        let entered = outcome(&world, sign_in).await;
        assert!(matches!(entered, PasskeySignIn::Entered(Entered::Session(_))), "{entered:?}");
    }
}

pub(super) async fn a_counter_that_did_not_grow_is_refused_audited_and_mailed(world: World) {
    let (user, _, passkey) = owner(&world).await;
    for stale in [5, 4, 0] {
        let sign_in = world.passkey_sign_in(passkey.id, stale, at(1));
        let (session, event) = (sign_in.entry.session.id, sign_in.refusal.event.id);

        assert_eq!(outcome(&world, sign_in.clone()).await, PasskeySignIn::Refused);

        assert!(!world.lives(session, at(2)).await);
        assert_eq!(world.event_of(event).await.unwrap().user_id, Some(user.id));
        let mails = world.mails(at(1)).await;
        assert_eq!(mails.iter().map(|mail| mail.kind).collect::<Vec<_>>(), [MailKind::PasskeyRefused]);
        assert_eq!(outcome(&world, sign_in).await, PasskeySignIn::CeremonyUsed, "one assertion, one mail");
    }
    assert_eq!(counter(&world, &passkey).await, 5, "the stored counter stays");
    assert!(world.enter_with_passkey(passkey.id, 6, at(3)).await.is_some());
}

pub(super) async fn an_assertion_that_the_caller_refuses_is_audited(world: World) {
    let (user, _, passkey) = owner(&world).await;
    let shown = ShownPasskey { id: passkey.id, state: None };
    let sign_in = SignInWithPasskey { shown, ..world.passkey_sign_in(passkey.id, 6, at(1)) };
    let event = sign_in.refusal.event.id;

    assert_eq!(outcome(&world, sign_in).await, PasskeySignIn::Refused);
    assert_eq!(world.event_of(event).await.unwrap().user_id, Some(user.id));
    assert_eq!(counter(&world, &passkey).await, 5);
}

pub(super) async fn an_authenticator_without_a_counter_signs_in_again_and_again(world: World) {
    let (user, session, _) = owner(&world).await;
    let enroller = latchkey_store::Enroller::Session(user.id, session);
    let mut register = world.registration(enroller, at(1));
    register.passkey.state.counter = 0;
    let id = register.passkey.id;
    world.register_passkey(register).await.unwrap();
    for now in [at(2), at(3)] {
        assert!(world.enter_with_passkey(id, 0, now).await.is_some());
    }
}

pub(super) async fn a_ceremony_signs_in_once_until_it_expires(world: World) {
    let (_, _, passkey) = owner(&world).await;
    let first = world.passkey_sign_in(passkey.id, 6, at(1));
    let ceremony = first.ceremony;
    let again = || SignInWithPasskey { ceremony, ..world.passkey_sign_in(passkey.id, 7, at(2)) };
    assert!(matches!(outcome(&world, first).await, PasskeySignIn::Entered(_)));

    assert_eq!(outcome(&world, again()).await, PasskeySignIn::CeremonyUsed);
    let unknown = CredentialId::parse(&[9; 16]).unwrap();
    let found = world.find_passkey(&unknown, &rp_id(), ceremony.hash).await.unwrap();
    assert_eq!(found, FoundPasskey::CeremonyUsed);
    world.purge(at(10 * MINUTE)).await.unwrap();
    assert_eq!(outcome(&world, again()).await, PasskeySignIn::CeremonyUsed);
    assert_eq!(world.mails(at(2)).await, [], "a repeated request is no copied passkey");
}

pub(super) async fn a_banned_or_unverified_account_is_told_so_and_gets_no_session(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let passkey = world.add_passkey(user.id, session.id, at(0)).await;
    let sign_in = world.passkey_sign_in(passkey.id, 6, at(1));
    assert_eq!(outcome(&world, sign_in.clone()).await, PasskeySignIn::Unverified);
    let lenient = SignInWithPasskey { must_verify: false, ..sign_in };
    let entered = outcome(&world, lenient).await;
    assert!(matches!(entered, PasskeySignIn::Entered(_)), "a refusal does not use up the ceremony");

    world.ban(user.id, at(2)).await;
    let banned = world.passkey_sign_in(passkey.id, 7, at(3));
    assert_eq!(outcome(&world, banned).await, PasskeySignIn::Banned);
    assert_eq!(counter(&world, &passkey).await, 6);
}

pub(super) async fn a_removed_or_foreign_passkey_signs_in_to_nothing(world: World) {
    let (user, session, passkey) = owner(&world).await;
    let foreign = world.add_foreign_passkey(user.id, session, at(0)).await;
    world.take_passkey((user.id, session), passkey.id, at(1)).await;
    for id in [passkey.id, foreign.id, world.id(at(2), PasskeyId::new)] {
        assert_eq!(outcome(&world, world.passkey_sign_in(id, 6, at(2))).await, PasskeySignIn::Gone);
    }
}
