//! Cases of passkeys as answers to challenges, of their enrolment by a challenge, and of two-step sign-in by a passkey.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::challenge::{ChallengeKind, SecondFactorPolicy};
use latchkey_domain::ids::SessionId;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::session::Level;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;

use super::factor_acts::{FIRST_STEP, RECOVERY_CODES, TwoStep, terms};
use super::fixtures::{World, at};
use super::numbered::rules;
use super::passkey_acts::rp_id;
use latchkey_store::{
    AnswerChallenge, Answered, BegunPasskey, ChallengeTerms, Completion, Enroller, Entered,
    RegisteredPasskey, SignInOutcome, TurnTwoStepOn, TurnedTwoStepOn,
};

use ChallengeKind::{Passkey, Password, RecoveryCode, Totp};

pub(super) async fn a_passkey_answers_and_its_session_remembers_it(world: World) {
    let TwoStep { user, session, .. } = world.two_step("ada", at(0)).await;
    let passkey = world.add_passkey(user.id, session.id, at(0)).await;
    let challenge = world.challenged(user.id, at(1)).await;
    let found = world.found(challenge, at(1)).await.unwrap();
    assert_eq!(found.kinds, [Passkey, Totp, RecoveryCode]);
    assert_eq!(found.passkey_options, None);
    let options = world.ask_for_passkey(challenge, at(1)).await.unwrap();
    let found = world.found(challenge, at(1)).await.unwrap();
    assert_eq!((found.passkeys[0].passkey.id, found.passkey_options), (passkey.id, Some(options)));
    let answer = world.passkey_answer(challenge, options, (passkey.id, 6), at(2));
    let Completion::SignIn(completed, _) = &answer.completes else { panic!("a sign-in") };
    let opened = completed.session.id;

    assert!(matches!(world.judged(answer.clone()).await, Answered::Entered(Entered::Session(_))));

    assert!(world.lives(opened, at(3)).await);
    assert_eq!(world.judged(answer).await, Answered::Invalid, "used");
    world.take_passkey((user.id, session.id), passkey.id, at(4)).await;
    assert!(!world.lives(opened, at(5)).await);
}

pub(super) async fn the_newest_options_count(world: World) {
    let TwoStep { user, session, .. } = world.two_step("ada", at(0)).await;
    let passkey = world.add_passkey(user.id, session.id, at(0)).await;
    let challenge = world.challenged(user.id, at(1)).await;
    let old = world.ask_for_passkey(challenge, at(1)).await.unwrap();
    let new = world.ask_for_passkey(challenge, at(1)).await.unwrap();
    let answer = |options| world.passkey_answer(challenge, options, (passkey.id, 6), at(2));

    assert_eq!(world.judged(answer(old)).await, Answered::Wrong);
    assert!(matches!(world.judged(answer(new)).await, Answered::Entered(Entered::Session(_))));
}

pub(super) async fn a_wrong_passkey_counts_and_a_copied_one_is_mailed(world: World) {
    let TwoStep { user, session, .. } = world.two_step("ada", at(0)).await;
    let passkey = world.add_passkey(user.id, session.id, at(0)).await;
    let eve = world.two_step("eve", at(0)).await;
    let of_eve = world.add_passkey(eve.user.id, eve.session.id, at(0)).await;
    world.mails(at(0)).await;
    let challenge = world.challenged(user.id, at(1)).await;
    let options = world.ask_for_passkey(challenge, at(1)).await.unwrap();
    let answer = |shown| world.passkey_answer(challenge, options, shown, at(2));

    assert_eq!(world.judged(answer((of_eve.id, 6))).await, Answered::Wrong, "another account's");
    let stale = answer((passkey.id, 5));
    let event = stale.passkey_refusal.event.id;
    assert_eq!(world.judged(stale).await, Answered::Wrong);
    assert_eq!(world.event_of(event).await.unwrap().user_id, Some(user.id));
    let mails = world.mails(at(2)).await;
    assert_eq!(mails.iter().map(|mail| mail.kind).collect::<Vec<_>>(), [MailKind::PasskeyRefused]);
    for _ in 0..3 {
        assert_eq!(world.judged(answer((of_eve.id, 6))).await, Answered::Wrong);
    }
    assert_eq!(world.judged(answer((passkey.id, 6))).await, Answered::Invalid, "five attempts");
}

pub(super) async fn a_passkey_of_another_relying_party_is_not_offered(world: World) {
    let TwoStep { user, session, .. } = world.two_step("ada", at(0)).await;
    world.add_foreign_passkey(user.id, session.id, at(0)).await;
    let challenge = world.challenged(user.id, at(1)).await;
    let found = world.found(challenge, at(1)).await.unwrap();
    assert_eq!((found.kinds, found.passkeys), (vec![Totp, RecoveryCode], vec![]));
    assert_eq!(world.ask_for_passkey(challenge, at(1)).await, None);
}

pub(super) async fn a_step_up_by_passkey_needs_no_two_step(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let passkey = world.add_passkey(user.id, session.id, at(0)).await;
    let (challenge, kinds) = world.step_up(session.id, at(1)).await.unwrap();
    assert_eq!(kinds, [Passkey, Password]);
    let options = world.ask_for_passkey(challenge, at(1)).await.unwrap();
    let event = world.event(AuditKind::Reauthenticated, at(2));
    let completes = Completion::Reauthenticate(session.id, event, None);
    let answer = world.passkey_answer(challenge, options, (passkey.id, 6), at(2));

    let answered = world.judged(AnswerChallenge { completes, ..answer }).await;

    assert!(matches!(answered, Answered::Reauthenticated(live) if live.session.level == Level::One));
}

/// Begins a sign-in by password where two-step sign-in is required.
async fn required(world: &World, user: &User) -> (TokenHash, ChallengeTerms, Vec<ChallengeKind>) {
    let mut sign_in = world.right(user.id, "secret", None, at(1));
    sign_in.entry.challenge = world.new_challenge(at(1));
    sign_in.entry.rules = rules(SecondFactorPolicy::Required);
    let hash = sign_in.entry.challenge.hash;
    let terms = ChallengeTerms { rules: rules(SecondFactorPolicy::Required), ..terms(at(2)) };
    match world.sign_in(sign_in).await.unwrap().unwrap() {
        SignInOutcome::Entered(Entered::Challenge(kinds)) => (hash, terms, kinds),
        other => panic!("{other:?}"),
    }
}

pub(super) async fn a_passkey_enrols_where_two_step_is_required(world: World) {
    let user = world.verified("ada", at(0)).await;
    let before = world.open_session(user.id, at(0)).await;
    let (challenge, terms, kinds) = required(&world, &user).await;
    assert_eq!(kinds, [ChallengeKind::Enroll]);
    let enroller = Enroller::Challenge(challenge, terms);
    assert!(matches!(world.begin_registration(enroller.clone(), 1, at(2)).await, BegunPasskey::Begun(_)));
    let id = world.id(at(2), latchkey_domain::factors::FactorId::new);
    let turned_on = world.confirmation(enroller.clone(), id, Some(FIRST_STEP), at(2)).turned_on;
    let opened = turned_on.session.id;
    let mut register = world.registration(enroller, at(2));
    register.turned_on = Some(Box::new(turned_on));
    let added = register.passkey.id;

    let registered = world.register_passkey(register).await.unwrap();

    let RegisteredPasskey::TurnedOn(owner, passkey) = registered else { panic!("{registered:?}") };
    assert!(owner.has_two_step() && passkey.id == added);
    assert!(world.lives(opened, at(3)).await && !world.lives(before.id, at(3)).await);
    assert_eq!(world.factors_of(user.id).await.recovery_codes_left, RECOVERY_CODES);
    let kinds: Vec<_> = world.mails(at(2)).await.iter().map(|mail| mail.kind).collect();
    assert_eq!(kinds, [MailKind::TwoStepOn]);
}

pub(super) async fn who_has_a_passkey_is_asked_for_it_and_may_not_enrol(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    world.add_passkey(user.id, session.id, at(0)).await;

    let (challenge, terms, kinds) = required(&world, &user).await;

    assert_eq!(kinds, [Passkey]);
    let enroller = Enroller::Challenge(challenge, terms);
    assert_eq!(world.begin_registration(enroller.clone(), 1, at(2)).await, BegunPasskey::NoEnroller);
    let registered = world.register_passkey(world.registration(enroller, at(2))).await.unwrap();
    assert_eq!(registered, RegisteredPasskey::NoEnroller);
}

/// Makes a request to turn two-step sign-in on in a session.
pub(super) fn turning_on(world: &World, user: &User, session_id: SessionId) -> TurnTwoStepOn {
    let enroller = Enroller::Session(user.id, session_id);
    let id = world.id(at(2), latchkey_domain::factors::FactorId::new);
    let turned_on = world.confirmation(enroller, id, Some(FIRST_STEP), at(2)).turned_on;
    TurnTwoStepOn { user_id: user.id, session_id, rp_id: Some(rp_id()), turned_on, now: at(2) }
}

pub(super) async fn a_passkey_alone_turns_two_step_on(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    world.add_foreign_passkey(user.id, session.id, at(0)).await;
    let refused = world.turn_two_step_on(turning_on(&world, &user, session.id)).await.unwrap();
    assert_eq!(refused, TurnedTwoStepOn::NoFactor);
    world.add_passkey(user.id, session.id, at(0)).await;
    let on = turning_on(&world, &user, session.id);
    let opened = on.turned_on.session.id;

    let turned_on = world.turn_two_step_on(on).await.unwrap();

    assert!(matches!(turned_on, TurnedTwoStepOn::TurnedOn(owner) if owner.has_two_step()));
    assert!(world.lives(opened, at(3)).await && !world.lives(session.id, at(3)).await);
    let again = world.turn_two_step_on(turning_on(&world, &user, opened)).await.unwrap();
    assert_eq!(again, TurnedTwoStepOn::Unchanged);
    let ended = world.turn_two_step_on(turning_on(&world, &user, session.id)).await.unwrap();
    assert_eq!(ended, TurnedTwoStepOn::NoSession);
}

pub(super) async fn an_unverified_account_turns_two_step_on_by_no_passkey(world: World) {
    let user = world.unverified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    world.add_passkey(user.id, session.id, at(0)).await;
    let refused = world.turn_two_step_on(turning_on(&world, &user, session.id)).await.unwrap();
    assert_eq!(refused, TurnedTwoStepOn::Unverified);
}
