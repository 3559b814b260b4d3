//! Cases of challenges of a sign-in, and of changes that end a challenge. Cases of guess limits are
//! in `challenge_guards`.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::challenge::{ChallengeKind, ChallengePurpose};
use latchkey_domain::client::{ClientType, OpenedFor};
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::session::{AuthMethod, AuthMethods, Level};
use latchkey_domain::tokens::TokenHash;

use super::factor_acts::{FIRST_STEP, RECOVERY_CODES, TwoStep, recovery_code, terms};
use super::fixtures::{DAY, MINUTE, World, at, email, key, password};
use super::guards::{fail, guard};
use super::oauth_acts::google;
use latchkey_store::{
    AnswerChallenge, Answered, ChallengeTerms, ChangePassword, Completion, Entered, IdentityOutcome, Shown,
    UpdateUser,
};

pub(super) async fn a_challenge_is_found_with_what_its_answer_is_judged_by(world: World) {
    let TwoStep { user, factor, .. } = world.two_step("ada", at(0)).await;
    let challenge = world.challenged(user.id, at(MINUTE)).await;

    let found = world.found(challenge, at(MINUTE)).await.unwrap();

    assert_eq!((found.purpose, found.user.id, found.session_id), (ChallengePurpose::SignIn, user.id, None));
    assert_eq!(found.opened_for, OpenedFor::App(ClientType::Mobile));
    assert_eq!(found.methods, Some(AuthMethods::of(AuthMethod::Password)));
    assert_eq!(found.kinds, [ChallengeKind::Totp, ChallengeKind::RecoveryCode]);
    assert_eq!(found.totp.iter().map(|totp| totp.id).collect::<Vec<_>>(), [factor]);
    assert_eq!(found.recovery_codes_left, RECOVERY_CODES);
    assert_eq!(found.expires_at, at(11 * MINUTE));
    assert!(world.found(challenge, at(11 * MINUTE)).await.is_none(), "expired");
    assert!(world.found(world.token(), at(MINUTE)).await.is_none(), "unknown");
}

pub(super) async fn a_totp_code_completes_the_sign_in(world: World) {
    let TwoStep { user, factor, .. } = world.two_step("ada", at(0)).await;
    let guard = guard("ada", "home");
    fail(&world, &guard, at(MINUTE)).await;
    let challenge = world.challenged(user.id, at(MINUTE)).await;
    let mut completed = world.completed(at(MINUTE));
    completed.guard = Some(guard.clone());
    let (session, event) = (completed.session.clone(), completed.event.id);
    let answer = AnswerChallenge {
        completes: Completion::SignIn(Box::new(completed), Box::new(world.new_challenge(at(MINUTE)))),
        ..world.totp_answer(challenge, factor, 200, at(MINUTE))
    };

    let answered = world.judged(answer.clone()).await;

    assert!(matches!(answered, Answered::Entered(Entered::Session(owner)) if owner.id == user.id));
    let live = world.find_live_session(session.id, at(MINUTE)).await.unwrap().unwrap();
    assert_eq!((live.session.level, live.session.methods), (Level::Two, session.methods));
    assert_eq!(world.event_of(event).await.unwrap().session_id, Some(session.id));
    assert_eq!(world.factors_of(user.id).await.totp[0].last_used_at, Some(at(MINUTE)));
    for _ in 0..9 {
        fail(&world, &guard, at(MINUTE)).await;
    }
    let blocked = world.begin_sign_in(&key("ada"), &[], Some(&guard), at(MINUTE)).await.unwrap();
    assert!(blocked.is_ok(), "the failure before was forgiven");
    assert_eq!(world.judged(answer).await, Answered::Invalid, "a challenge is used once");
}

pub(super) async fn a_recovery_code_completes_the_sign_in_once(world: World) {
    let TwoStep { user, .. } = world.two_step("ada", at(0)).await;
    world.mails(at(0)).await;
    let first = world.challenged(user.id, at(1)).await;
    let answer = world.recovery_answer(first, 3, RECOVERY_CODES, at(1));
    let event = answer.recovery_code_used.id;

    assert!(matches!(world.judged(answer).await, Answered::Entered(Entered::Session(_))));

    assert_eq!(world.factors_of(user.id).await.recovery_codes_left, 9);
    assert_eq!(world.event_of(event).await.unwrap().user_id, Some(user.id));
    assert_eq!(world.mails(at(2)).await[0].kind, MailKind::RecoveryCodeUsed);
    let second = world.challenged(user.id, at(2)).await;
    assert_eq!(world.judged(world.recovery_answer(second, 3, 9, at(2))).await, Answered::Wrong);
    let unknown = world.recovery_answer(second, 99, 9, at(2));
    assert_eq!(world.judged(unknown).await, Answered::Wrong);
}

pub(super) async fn another_number_of_recovery_codes_judges_nothing(world: World) {
    let TwoStep { user, .. } = world.two_step("ada", at(0)).await;
    let challenge = world.challenged(user.id, at(1)).await;
    let before = world.events().await.len();

    assert_eq!(world.judged(world.recovery_answer(challenge, 0, 9, at(1))).await, Answered::Moved);

    assert_eq!(world.events().await.len(), before);
    let looked_again = world.recovery_answer(challenge, 0, RECOVERY_CODES, at(1));
    assert!(matches!(world.judged(looked_again).await, Answered::Entered(Entered::Session(_))));
}

pub(super) async fn a_step_is_accepted_once_and_none_before_it(world: World) {
    let TwoStep { user, factor, .. } = world.two_step("ada", at(0)).await;
    let challenge = world.challenged(user.id, at(1)).await;

    for used in [FIRST_STEP, FIRST_STEP - 1] {
        let answer = world.totp_answer(challenge, factor, used, at(1));
        assert_eq!(world.judged(answer).await, Answered::Wrong, "the confirming code counts");
    }
    let next = world.totp_answer(challenge, factor, FIRST_STEP + 1, at(1));
    assert!(matches!(world.judged(next).await, Answered::Entered(Entered::Session(_))));
    let challenge = world.challenged(user.id, at(2)).await;
    let again = world.totp_answer(challenge, factor, FIRST_STEP + 1, at(2));
    assert_eq!(world.judged(again).await, Answered::Wrong);
}

pub(super) async fn the_fifth_wrong_answer_ends_the_challenge(world: World) {
    let TwoStep { user, factor, .. } = world.two_step("ada", at(0)).await;
    let challenge = world.challenged(user.id, at(1)).await;
    for _ in 0..5 {
        let wrong = world.wrong(challenge, at(1));
        let event = wrong.failed.clone().unwrap().id;
        assert_eq!(world.judged(wrong).await, Answered::Wrong);
        assert_eq!(world.event_of(event).await.unwrap().user_id, Some(user.id));
    }

    assert_eq!(world.judged(world.totp_answer(challenge, factor, 200, at(1))).await, Answered::Invalid);
    assert_eq!(world.judged(world.wrong(challenge, at(1))).await, Answered::Invalid);
    assert!(world.found(challenge, at(1)).await.is_none());
}

pub(super) async fn an_answer_that_does_not_belong_to_the_challenge_changes_nothing(world: World) {
    let TwoStep { user, session, factor } = world.two_step("ada", at(0)).await;
    let challenge = world.challenged(user.id, at(1)).await;
    let good = world.totp_answer(challenge, factor, 200, at(1));
    let event = world.event(AuditKind::Reauthenticated, at(1));
    let before = world.events().await.len();

    let unknown = AnswerChallenge { challenge: world.token(), ..good.clone() };
    let expired = AnswerChallenge { terms: terms(at(1 + 10 * MINUTE)), ..good.clone() };
    let not_offered =
        AnswerChallenge { kind: ChallengeKind::Password, shown: password_shown(), ..good.clone() };
    let not_answered = AnswerChallenge { kind: ChallengeKind::Enroll, ..good.clone() };
    let other_purpose =
        AnswerChallenge { completes: Completion::Reauthenticate(session.id, event, None), ..good.clone() };
    let reset = Completion::Reset(world.new_token(at(1), std::time::Duration::from_mins(15)));
    let other_token = AnswerChallenge { completes: reset, ..good.clone() };
    for answer in [unknown, expired, not_offered, not_answered, other_purpose, other_token] {
        assert_eq!(world.judged(answer).await, Answered::Invalid);
    }

    assert_eq!(world.events().await.len(), before);
    assert!(matches!(world.judged(good).await, Answered::Entered(Entered::Session(_))));
}

fn password_shown() -> Shown {
    Shown::Password(password("secret"))
}

pub(super) async fn a_factor_of_another_account_or_kind_is_wrong(world: World) {
    let (ada, eve) = (world.two_step("ada", at(0)).await, world.two_step("eve", at(0)).await);
    let challenge = world.challenged(ada.user.id, at(1)).await;

    let foreign = world.totp_answer(challenge, eve.factor, 200, at(1));
    assert_eq!(world.judged(foreign).await, Answered::Wrong);
    let shown = Shown::RecoveryCode(recovery_code(0));
    let mixed = world.answer(challenge, ChallengeKind::Totp, shown, at(1));
    assert_eq!(world.judged(mixed).await, Answered::Wrong);
}

pub(super) async fn a_ban_or_an_unverified_address_voids_the_sign_in(world: World) {
    let TwoStep { user, factor, .. } = world.two_step("ada", at(0)).await;
    let challenge = world.challenged(user.id, at(1)).await;
    let change = UpdateUser { email_verified: Some(false), ..world.change(user.id, at(1)) };
    world.update_user(change).await.unwrap();
    let answer = world.totp_answer(challenge, factor, 200, at(2));
    assert_eq!(world.judged(answer.clone()).await, Answered::Invalid);
    let lenient = ChallengeTerms { must_verify: false, ..terms(at(2)) };
    let may_be_unverified = AnswerChallenge { terms: lenient.clone(), ..answer };
    assert!(matches!(world.judged(may_be_unverified).await, Answered::Entered(Entered::Session(_))));

    let challenge = world.challenged(user.id, at(3)).await;
    world.ban(user.id, at(4)).await;
    let lift = UpdateUser { banned: Some(false), ..world.change(user.id, at(5)) };
    world.update_user(lift).await.unwrap();
    let answer = AnswerChallenge { terms: lenient, ..world.totp_answer(challenge, factor, 300, at(3)) };
    assert_eq!(world.judged(answer).await, Answered::Invalid, "the ban deleted it");
}

pub(super) async fn what_revokes_codes_ends_challenges(world: World) {
    let TwoStep { user, session, factor } = world.two_step("ada", at(0)).await;
    let changed = world.challenged(user.id, at(1)).await;
    let change = ChangePassword {
        user_id: user.id,
        checked: password("secret"),
        password: password("secret"),
        keep: session.id,
        page_token: None,
        guard: None,
        event: world.event(AuditKind::PasswordChanged, at(2)),
        mail: None,
        now: at(2),
    };
    world.change_password(change).await.unwrap().unwrap();
    assert!(world.found(changed, at(2)).await.is_none(), "password change");

    let moved = world.challenged(user.id, at(3)).await;
    let change =
        UpdateUser { email: Some(email("eva")), email_verified: Some(true), ..world.change(user.id, at(4)) };
    world.update_user(change).await.unwrap();
    assert!(world.found(moved, at(4)).await.is_none(), "email change");

    let two_step = TwoStep { user: world.user(user.id).await, session, factor };
    let token = world.second_reset_token(&two_step, 200, at(5)).await;
    let reset = world.challenged(user.id, at(6)).await;
    assert!(world.reset(token, "new", at(7)).await.is_some());
    assert!(world.found(reset, at(7)).await.is_none(), "password reset");
}

pub(super) async fn an_identity_is_linked_by_the_answer(world: World) {
    let TwoStep { user, factor, .. } = world.two_step("ada", at(0)).await;
    world.mails(at(0)).await;
    let challenge = challenged_with(&world, "1").await;
    assert!(world.list_identities(user.id).await.unwrap().is_empty(), "it waits for the answer");
    let answer = world.totp_answer(challenge, factor, 200, at(2));
    let Completion::SignIn(completed, _) = &answer.completes else { unreachable!() };
    let (session, linked) = (completed.session.id, completed.linked.id);

    assert!(matches!(world.judged(answer).await, Answered::Entered(Entered::Session(_))));

    assert_eq!(world.list_identities(user.id).await.unwrap()[0].subject, "1");
    assert_eq!(world.event_of(linked).await.unwrap().session_id, Some(session));
    assert_eq!(world.mails(at(3)).await[0].kind, MailKind::IdentityLinked);
    let again = challenged_with(&world, "1").await;
    let answer = world.totp_answer(again, factor, 201, at(4));
    let Completion::SignIn(completed, _) = &answer.completes else { unreachable!() };
    let linked = completed.linked.id;
    assert!(matches!(world.judged(answer).await, Answered::Entered(Entered::Session(_))));
    assert_eq!(world.event_of(linked).await, None, "it was linked already");
}

/// Begins a sign-in to the account of the user `ada`, with an identity that has her address.
async fn challenged_with(world: &World, subject: &str) -> TokenHash {
    let mut sign_in = world.with_identity(google(subject, "ada"), at(1));
    sign_in.entry.challenge = world.new_challenge(at(1));
    let hash = sign_in.entry.challenge.hash;
    let outcome = world.sign_in_with_identity(sign_in).await.unwrap();
    assert!(matches!(outcome, IdentityOutcome::Entered(latchkey_store::Entered::Challenge(_))));
    hash
}

pub(super) async fn an_identity_linked_elsewhere_or_unlinked_voids_the_sign_in(world: World) {
    let TwoStep { user, factor, .. } = world.two_step("ada", at(0)).await;
    let taken = challenged_with(&world, "1").await;
    let eve = world.verified("eve", at(1)).await;
    let session = world.open_session(eve.id, at(1)).await;
    world.link(eve.id, &session, google("1", "ada"), at(2)).await;
    assert_eq!(world.judged(world.totp_answer(taken, factor, 200, at(3))).await, Answered::Invalid);

    let linked = challenged_with(&world, "2").await;
    assert!(matches!(
        world.judged(world.totp_answer(linked, factor, 201, at(3))).await,
        Answered::Entered(Entered::Session(_))
    ));
    let unlinked = challenged_with(&world, "2").await;
    world.unlink(user.id, "google", None, at(4)).await;
    assert_eq!(world.judged(world.totp_answer(unlinked, factor, 202, at(5))).await, Answered::Invalid);
}

pub(super) async fn a_session_opened_by_an_answer_ends_with_its_identity(world: World) {
    let TwoStep { user, factor, .. } = world.two_step("ada", at(0)).await;
    let challenge = challenged_with(&world, "1").await;
    let answer = world.totp_answer(challenge, factor, 200, at(2));
    let Completion::SignIn(completed, _) = &answer.completes else { unreachable!() };
    let session = completed.session.id;
    world.judged(answer).await;

    world.unlink(user.id, "google", None, at(3)).await;

    assert!(!world.lives(session, at(4)).await);
}

pub(super) async fn expired_challenges_are_purged(world: World) {
    let TwoStep { user, .. } = world.two_step("ada", at(0)).await;
    let challenge = world.challenged(user.id, at(0)).await;

    world.purge(at(DAY)).await.unwrap();

    assert!(world.found(challenge, at(1)).await.is_none());
}
