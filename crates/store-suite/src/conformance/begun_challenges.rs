//! Cases of challenges that a session or a reset token begins.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::challenge::{ChallengeKind, ChallengePurpose, SecondFactorPolicy};
use latchkey_domain::codes::Purpose;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::tokens::TokenHash;

use super::factor_acts::TwoStep;
use super::fixtures::{HOUR, World, at, key, mac, password};
use super::numbered::rules;
use super::oauth_acts::{google, identity};
use latchkey_store::{
    AnswerChallenge, Answered, BeginReauthentication, Completion, NewAccount, ResetOutcome, ResetPassword,
    Shown,
};

fn password_shown() -> Shown {
    Shown::Password(password("secret"))
}

pub(super) async fn a_step_up_is_answered_with_the_second_factor(world: World) {
    let TwoStep { user, session, factor } = world.two_step("ada", at(0)).await;
    let (challenge, kinds) = world.step_up(session.id, at(HOUR)).await.unwrap();
    assert_eq!(kinds, [ChallengeKind::Totp, ChallengeKind::RecoveryCode]);
    let found = world.found(challenge, at(HOUR)).await.unwrap();
    assert_eq!((found.purpose, found.session_id), (ChallengePurpose::Reauthenticate, Some(session.id)));
    let event = world.event(AuditKind::Reauthenticated, at(HOUR));
    let answer = AnswerChallenge {
        completes: Completion::Reauthenticate(session.id, event.clone(), None),
        ..world.totp_answer(challenge, factor, 200, at(HOUR))
    };

    let Answered::Reauthenticated(live) = world.judged(answer.clone()).await else { panic!("refused") };

    assert_eq!((live.session.id, live.user.id), (session.id, user.id));
    assert_eq!(live.session.authenticated_at, at(0), "the session does not change");
    assert_eq!(world.event_of(event.id).await.unwrap().session_id, Some(session.id));
    assert_eq!(world.judged(answer).await, Answered::Invalid);
}

/// Makes an answer to a challenge that completes a reauthentication in a session.
fn step_up_answer(
    world: &World,
    session: latchkey_domain::ids::SessionId,
    challenge: TokenHash,
    kind: ChallengeKind,
    shown: Shown,
) -> AnswerChallenge {
    let event = world.event(AuditKind::Reauthenticated, at(5));
    let completes = Completion::Reauthenticate(session, event, None);
    AnswerChallenge { completes, ..world.answer(challenge, kind, shown, at(5)) }
}

pub(super) async fn a_step_up_is_answered_with_the_password(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let (challenge, kinds) = world.step_up(session.id, at(1)).await.unwrap();
    assert_eq!(kinds, [ChallengeKind::Password]);
    let answer = |text: &str| {
        let shown = Shown::Password(password(text));
        step_up_answer(&world, session.id, challenge, ChallengeKind::Password, shown)
    };

    assert_eq!(world.judged(answer("stale")).await, Answered::Wrong);
    assert!(matches!(world.judged(answer("secret")).await, Answered::Reauthenticated(_)));
}

pub(super) async fn a_step_up_is_answered_with_a_mailed_code(world: World) {
    let user = world.create(NewAccount { password: None, ..world.account("ada", at(0)) }).await;
    world.enter(google("1", "ada"), at(0)).await;
    let session = world.list_sessions(user.id, at(0)).await.unwrap()[0].id;
    let (challenge, kinds) = world.step_up(session, at(1)).await.unwrap();
    assert_eq!(kinds, [ChallengeKind::EmailCode]);
    world.send_code(&key("ada"), Purpose::Reauthenticate, mac(1), at(1)).await;
    assert_eq!(world.mails(at(1)).await[0].kind, MailKind::Reauthenticate);
    let attempt = |code| world.attempt(&key("ada"), mac(code), at(2));
    let purpose = Purpose::Reauthenticate;
    assert!(!world.use_email_code(attempt(2), purpose).await.unwrap().unwrap());
    assert!(!world.use_email_code(attempt(1), Purpose::ResetPassword).await.unwrap().unwrap());
    assert!(world.use_email_code(attempt(1), purpose).await.unwrap().unwrap());
    assert!(!world.use_email_code(attempt(1), purpose).await.unwrap().unwrap(), "used");

    let answer = step_up_answer(&world, session, challenge, ChallengeKind::EmailCode, Shown::EmailCode);

    assert!(matches!(world.judged(answer).await, Answered::Reauthenticated(_)));
}

pub(super) async fn a_step_up_belongs_to_its_live_session(world: World) {
    let user = world.verified("ada", at(0)).await;
    let (own, other) = (world.open_session(user.id, at(0)).await, world.open_session(user.id, at(0)).await);
    let (replaced, _) = world.step_up(own.id, at(1)).await.unwrap();
    let (challenge, _) = world.step_up(own.id, at(2)).await.unwrap();
    let (foreign, _) = world.step_up(other.id, at(2)).await.unwrap();
    let answer = |session, challenge| {
        step_up_answer(&world, session, challenge, ChallengeKind::Password, password_shown())
    };

    assert_eq!(world.judged(answer(own.id, replaced)).await, Answered::Invalid);
    assert_eq!(world.judged(answer(other.id, challenge)).await, Answered::Invalid);
    world.end_sessions_of(user.id, at(3)).await;
    assert_eq!(world.judged(answer(own.id, challenge)).await, Answered::Invalid);
    assert_eq!(world.judged(answer(other.id, foreign)).await, Answered::Invalid);
    assert_eq!(world.step_up(own.id, at(4)).await, None);
}

pub(super) async fn a_session_of_level_one_ends_at_its_step_up_where_level_two_is_required(world: World) {
    let TwoStep { session: two, .. } = world.two_step("ada", at(0)).await;
    let eve = world.verified("eve", at(0)).await;
    let one = world.open_session(eve.id, at(0)).await;
    let (challenge, _) = world.step_up(one.id, at(1)).await.unwrap();
    let begin = |session_id| BeginReauthentication {
        session_id,
        challenge: world.new_challenge(at(2)),
        takes: Vec::new(),
        rules: rules(SecondFactorPolicy::Required),
        level_two_required: Some(world.event(AuditKind::SignedOut, at(2))),
        now: at(2),
    };
    let mut answer = step_up_answer(&world, one.id, challenge, ChallengeKind::Password, password_shown());
    answer.terms.rules = rules(SecondFactorPolicy::Required);

    assert_eq!(world.judged(answer).await, Answered::Invalid, "begun before level two was required");
    assert!(world.begin_reauthentication(begin(two.id)).await.unwrap().unwrap().is_some());
    assert_eq!(world.begin_reauthentication(begin(one.id)).await.unwrap().unwrap(), None);

    assert!(world.lives(two.id, at(2)).await && !world.lives(one.id, at(2)).await);
    let ended = world.events().await.into_iter().find(|event| event.kind == AuditKind::SignedOut).unwrap();
    assert_eq!((ended.user_id, ended.session_id), (Some(eve.id), Some(one.id)));
}

pub(super) async fn a_step_up_without_a_kind_writes_nothing(world: World) {
    let unverified = identity("github", "1", Some("ada"), false);
    let user = world.enter(unverified, at(0)).await;
    let session = world.list_sessions(user.id, at(0)).await.unwrap()[0].id;

    let (challenge, kinds) = world.step_up(session, at(1)).await.unwrap();

    assert!(kinds.is_empty());
    assert!(world.found(challenge, at(1)).await.is_none());
}

pub(super) async fn a_reset_needs_the_second_factor(world: World) {
    let TwoStep { user, factor, .. } = world.two_step("ada", at(0)).await;
    let token = world.reset_token("ada", at(1)).await;
    let reset = ResetPassword {
        token,
        password: password("new"),
        event: world.event(AuditKind::PasswordReset, at(1)),
        mail: None,
        cleared: None,
        now: at(1),
    };
    assert_eq!(world.reset_password(reset).await.unwrap(), ResetOutcome::NeedsSecondFactor);
    assert!(world.needs_second_factor(token, at(1)).await);
    let replaced = world.reset_challenge(token, at(2)).await.unwrap();
    let challenge = world.reset_challenge(token, at(2)).await.unwrap();
    let (answer, _) = world.reset_answer(replaced, factor, 200, at(3));
    assert_eq!(world.judged(answer).await, Answered::Invalid, "a newer challenge replaced it");
    let (answer, second) = world.reset_answer(challenge, factor, 200, at(3));

    assert_eq!(world.judged(answer).await, Answered::Reset);

    assert!(!world.can_reset(token, at(4)).await, "the new token replaces it");
    assert!(!world.needs_second_factor(second, at(4)).await);
    assert_eq!(world.reset(second, "new", at(4)).await.unwrap().id, user.id);
    assert!(world.user(user.id).await.has_two_step());
    assert!(world.reset(second, "newer", at(5)).await.is_none());
}

pub(super) async fn a_reset_challenge_needs_a_good_token(world: World) {
    let TwoStep { factor, .. } = world.two_step("ada", at(0)).await;
    let token = world.reset_token("ada", at(1)).await;
    let challenge = world.reset_challenge(token, at(2)).await.unwrap();
    world.reset_token("ada", at(3)).await;

    let (answer, second) = world.reset_answer(challenge, factor, 200, at(4));

    assert_eq!(world.judged(answer).await, Answered::Invalid, "a newer token replaced it");
    assert!(!world.can_reset(second, at(4)).await);
    assert_eq!(world.reset_challenge(token, at(4)).await, None);
    assert_eq!(world.reset_challenge(world.token(), at(4)).await, None);
}

pub(super) async fn an_account_without_two_step_resets_without_a_challenge(world: World) {
    world.verified("ada", at(0)).await;
    let token = world.reset_token("ada", at(1)).await;

    assert!(!world.needs_second_factor(token, at(1)).await);
    let challenge = world.reset_challenge(token, at(1)).await.unwrap();
    assert!(world.found(challenge, at(1)).await.is_none(), "no kind, no challenge");
    assert!(world.reset(token, "new", at(2)).await.is_some());
}
