//! Cases of the enrolment of TOTP factors, in a session, or during a sign-in whose challenge requires it.

use std::time::Duration;

use latchkey_domain::audit::AuditKind;
use latchkey_domain::challenge::SecondFactorPolicy;
use latchkey_domain::codes::Purpose;
use latchkey_domain::factors::FactorId;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::session::Level;

use super::factor_acts::{RECOVERY_CODES, terms};
use super::fixtures::{MINUTE, World, at, key, mac};
use super::guards::{fail, guard};
use super::numbered::rules;
use super::oauth_acts::google;
use latchkey_store::{
    BeginTotp, BegunTotp, ChallengeTerms, ConfirmTotp, ConfirmedTotp, Enroller, Entered, SignInOutcome,
    UpdateUser,
};

pub(super) async fn a_pending_factor_is_nothing_until_it_is_confirmed(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let id = world.pend(user.id, session.id, at(1)).await;

    let enroller = Enroller::Session(user.id, session.id);
    let pending = world.find_pending_totp(enroller, id, at(2)).await.unwrap().unwrap();

    assert_eq!((pending.totp.id, pending.user.id), (id, user.id));
    assert_eq!(pending.totp.secret, b"sealed secret");
    assert!(world.factors_of(user.id).await.totp.is_empty());
    assert!(!world.user(user.id).await.has_two_step());
    assert!(world.lives(world.open_session(user.id, at(3)).await.id, at(3)).await, "no challenge");
}

pub(super) async fn a_new_pending_factor_replaces_the_earlier(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let first = world.pend(user.id, session.id, at(1)).await;
    let second = world.pend(user.id, session.id, at(2)).await;

    let confirmed = world.confirm(user.id, session.id, first, Some(7), at(3)).await;
    assert_eq!(confirmed, ConfirmedTotp::NotFound);
    let confirmed = world.confirm(user.id, session.id, second, Some(7), at(3)).await;
    assert!(matches!(confirmed, ConfirmedTotp::TurnedOn(..)));
}

pub(super) async fn a_pending_factor_belongs_to_its_session(world: World) {
    let user = world.verified("ada", at(0)).await;
    let eve = world.verified("eve", at(0)).await;
    let (own, other) = (world.open_session(user.id, at(0)).await, world.open_session(user.id, at(0)).await);
    let foreign = world.open_session(eve.id, at(0)).await;
    let id = world.pend(user.id, own.id, at(1)).await;

    for (user_id, session_id) in [(user.id, other.id), (eve.id, foreign.id)] {
        let enroller = Enroller::Session(user_id, session_id);
        assert_eq!(world.find_pending_totp(enroller, id, at(2)).await.unwrap(), None);
        let confirmed = world.confirm(user_id, session_id, id, Some(7), at(2)).await;
        assert_eq!(confirmed, ConfirmedTotp::NotFound);
    }
    let confirmed = world.confirm(eve.id, own.id, id, Some(7), at(2)).await;
    assert_eq!(confirmed, ConfirmedTotp::NoEnroller, "the session is another user's");
}

pub(super) async fn a_pending_factor_expires(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let id = world.pend(user.id, session.id, at(0)).await;
    let enroller = Enroller::Session(user.id, session.id);

    assert!(world.find_pending_totp(enroller.clone(), id, at(10 * MINUTE - 1)).await.unwrap().is_some());
    assert!(world.find_pending_totp(enroller, id, at(10 * MINUTE)).await.unwrap().is_none());
    let confirmed = world.confirm(user.id, session.id, id, Some(7), at(10 * MINUTE)).await;
    assert_eq!(confirmed, ConfirmedTotp::NotFound);
}

pub(super) async fn the_fifth_wrong_code_drops_a_pending_factor(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let id = world.pend(user.id, session.id, at(0)).await;

    for seconds in 1..=5 {
        let confirmed = world.confirm(user.id, session.id, id, None, at(seconds)).await;
        assert_eq!(confirmed, ConfirmedTotp::Wrong);
    }

    let confirmed = world.confirm(user.id, session.id, id, Some(7), at(6)).await;
    assert_eq!(confirmed, ConfirmedTotp::NotFound);
    assert!(!world.user(user.id).await.has_two_step());
}

pub(super) async fn the_first_factor_turns_two_step_on_and_ends_every_session(world: World) {
    let user = world.verified("ada", at(0)).await;
    let (own, other) = (world.open_session(user.id, at(0)).await, world.open_session(user.id, at(0)).await);
    world.send_code(&key("ada"), Purpose::ResetPassword, mac(1), at(0)).await;
    let token = world.exchange(&key("ada"), mac(1), at(0)).await.unwrap();
    world.mails(at(0)).await;
    let id = world.pend(user.id, own.id, at(1)).await;
    let confirm = world.confirmation(Enroller::Session(user.id, own.id), id, Some(7), at(2));
    let (session, events) = (confirm.turned_on.session.clone(), confirm.turned_on.events.clone());
    let added = confirm.added.id;

    let ConfirmedTotp::TurnedOn(user, factor) = world.confirm_totp(confirm).await.unwrap() else {
        panic!("not turned on")
    };

    assert_eq!((user.two_step_at, factor.id, factor.created_at), (Some(at(2)), id, at(2)));
    let live = world.find_live_session(session.id, at(3)).await.unwrap().unwrap();
    assert_eq!(live.session.level, Level::Two);
    assert!(!world.lives(own.id, at(3)).await && !world.lives(other.id, at(3)).await);
    assert!(!world.can_reset(token, at(3)).await);
    let factors = world.find_own_account(session.id, at(3)).await.unwrap().unwrap().factors;
    assert_eq!((factors.totp, factors.recovery_codes_left), (vec![factor], RECOVERY_CODES));
    for (event, kind) in [
        (added, AuditKind::TotpAdded),
        (events.two_step_on.id, AuditKind::TwoStepOn),
        (events.recovery_codes_made.id, AuditKind::RecoveryCodesMade),
    ] {
        let event = world.event_of(event).await.unwrap();
        assert_eq!((event.kind, event.user_id, event.session_id), (kind, Some(user.id), Some(session.id)));
    }
    assert_eq!(world.event_of(events.signed_in.id).await, None, "nobody signed in");
    let mails = world.mails(at(3)).await;
    assert_eq!(mails.iter().map(|mail| mail.kind).collect::<Vec<_>>(), [MailKind::TwoStepOn]);
}

pub(super) async fn an_undo_token_is_written_with_its_mail_alone(world: World) {
    for (name, has_mail) in [("ada", true), ("eve", false)] {
        let user = world.verified(name, at(0)).await;
        let session = world.open_session(user.id, at(0)).await;
        let id = world.pend(user.id, session.id, at(0)).await;
        let mut confirm = world.confirmation(Enroller::Session(user.id, session.id), id, Some(7), at(1));
        let token = confirm.turned_on.undo.unwrap().hash;
        if !has_mail {
            confirm.turned_on.mail = None;
        }

        world.confirm_totp(confirm).await.unwrap();

        assert_eq!(world.find_undo(token, &[], at(2)).await.unwrap().unwrap().is_some(), has_mail);
    }
}

pub(super) async fn an_unverified_address_or_an_unproven_password_enrolls_nothing(world: World) {
    let unverified = world.unverified("ada", at(0)).await;
    let session = world.open_session(unverified.id, at(0)).await;
    let begin = world.totp(Enroller::Session(unverified.id, session.id), at(1));
    assert_eq!(world.begin_totp(begin).await.unwrap(), BegunTotp::Unverified);

    let pending = world.pending("eve", at(0)).await;
    let link = world.send_link(&key("eve"), Purpose::VerifyEmail, at(1)).await;
    world.open_link(link, at(2)).await; // in a browser that did not sign up: the password stays unproven
    let session = world.open_session(pending.id, at(3)).await;
    let begin = world.totp(Enroller::Session(pending.id, session.id), at(3));
    assert_eq!(world.begin_totp(begin).await.unwrap(), BegunTotp::Unverified);
}

pub(super) async fn an_address_unverified_meanwhile_turns_nothing_on(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let id = world.pend(user.id, session.id, at(0)).await;
    let change = UpdateUser { email_verified: Some(false), ..world.change(user.id, at(1)) };
    world.update_user(change).await.unwrap();

    let confirmed = world.confirm(user.id, session.id, id, Some(7), at(2)).await;

    assert_eq!(confirmed, ConfirmedTotp::NotFound);
    assert!(!world.user(user.id).await.has_two_step());
}

/// Begins a sign-in with an identity of the user `ada`, while the operator requires two-step
/// sign-in.
async fn required(world: &World) -> (Enroller, ChallengeTerms) {
    let mut sign_in = world.with_identity(google("1", "ada"), at(1));
    sign_in.entry.challenge = world.new_challenge(at(1));
    sign_in.entry.rules = rules(SecondFactorPolicy::Required);
    let hash = sign_in.entry.challenge.hash;
    world.sign_in_with_identity(sign_in).await.unwrap();
    let terms = ChallengeTerms { rules: rules(SecondFactorPolicy::Required), ..terms(at(2)) };
    (Enroller::Challenge(hash, terms.clone()), terms)
}

pub(super) async fn a_challenge_of_a_sign_in_enrolls_where_that_is_required(world: World) {
    let user = world.verified("ada", at(0)).await;
    let (enroller, _) = required(&world).await;
    let begin = world.totp(enroller.clone(), at(2));
    let id = begin.id;
    assert!(matches!(world.begin_totp(begin).await.unwrap(), BegunTotp::Begun(_)));
    assert!(world.find_pending_totp(enroller.clone(), id, at(2)).await.unwrap().is_some());
    let mut confirm = world.confirmation(enroller, id, Some(7), at(3));
    let guard = guard("ada", "home");
    for _ in 0..10 {
        fail(&world, &guard, at(3)).await;
    }
    confirm.turned_on.guard = Some(guard.clone());
    let (session, events) = (confirm.turned_on.session.id, confirm.turned_on.events.clone());

    let confirmed = world.confirm_totp(confirm.clone()).await.unwrap();

    assert!(matches!(confirmed, ConfirmedTotp::TurnedOn(owner, _) if owner.id == user.id));
    assert!(world.lives(session, at(4)).await);
    let sign_in = world.begin_sign_in(&key("ada"), &[], Some(&guard), at(4)).await.unwrap();
    assert!(sign_in.is_ok(), "the failures before are forgiven");
    for event in [events.signed_in.id, events.linked.id] {
        assert_eq!(world.event_of(event).await.unwrap().session_id, Some(session));
    }
    assert_eq!(world.list_identities(user.id).await.unwrap().len(), 1, "linked by the enrolment");
    let again = ConfirmTotp { id: world.id(at(4), FactorId::new), ..confirm };
    assert_eq!(world.confirm_totp(again).await.unwrap(), ConfirmedTotp::NoEnroller);
}

pub(super) async fn a_challenge_without_enrolment_enrolls_nothing(world: World) {
    let two_step = world.two_step("ada", at(0)).await;
    let challenge = world.challenged(two_step.user.id, at(1)).await;
    for policy in [SecondFactorPolicy::Optional, SecondFactorPolicy::Required] {
        let enroller =
            Enroller::Challenge(challenge, ChallengeTerms { rules: rules(policy), ..terms(at(2)) });
        let begin = world.totp(enroller, at(2));
        assert_eq!(world.begin_totp(begin).await.unwrap(), BegunTotp::NoEnroller);
    }

    world.verified("eve", at(0)).await;
    let mut sign_in = world.right(world.user_of("eve").await, "secret", None, at(3));
    sign_in.entry.challenge = world.new_challenge(at(3));
    sign_in.entry.rules = rules(SecondFactorPolicy::Required);
    let hash = sign_in.entry.challenge.hash;
    let outcome = world.sign_in(sign_in).await.unwrap().unwrap();
    assert!(matches!(outcome, SignInOutcome::Entered(Entered::Challenge(_))));
    let no_longer_required = Enroller::Challenge(hash, terms(at(4)));
    let begin = world.totp(no_longer_required, at(4));
    assert_eq!(world.begin_totp(begin).await.unwrap(), BegunTotp::NoEnroller);
    let expired = ChallengeTerms { rules: rules(SecondFactorPolicy::Required), ..terms(at(11 * MINUTE)) };
    let begin = world.totp(Enroller::Challenge(hash, expired), at(11 * MINUTE));
    assert_eq!(world.begin_totp(begin).await.unwrap(), BegunTotp::NoEnroller);
}

pub(super) async fn an_enrolment_of_an_ended_challenge_confirms_nothing(world: World) {
    let user = world.verified("ada", at(0)).await;
    let (enroller, _) = required(&world).await;
    let begin = world.totp(enroller.clone(), at(2));
    let id = begin.id;
    world.begin_totp(begin).await.unwrap();
    world.ban(user.id, at(3)).await;

    let confirmed = world.confirm_totp(world.confirmation(enroller, id, Some(7), at(4))).await.unwrap();

    assert_eq!(confirmed, ConfirmedTotp::NoEnroller);
}

pub(super) async fn expired_pending_factors_are_purged_and_confirmed_ones_are_not(world: World) {
    let two_step = world.two_step("ada", at(0)).await;
    let (user, session) = (two_step.user.id, two_step.session.id);
    let enroller = Enroller::Session(user, session);
    let begin =
        BeginTotp { expires_at: at(1).plus(Duration::from_secs(1)), ..world.totp(enroller.clone(), at(1)) };
    let id = begin.id;
    world.begin_totp(begin).await.unwrap();

    assert!(world.purge(at(2)).await.unwrap() > 0);

    assert_eq!(world.factors_of(user).await.totp.len(), 1);
    assert!(world.find_pending_totp(enroller, id, at(1)).await.unwrap().is_none());
}
