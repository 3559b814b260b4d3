//! Cases of changes of second factors, and of their removal.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::factors::{FactorId, FactorName};
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::operator::Protection;

use super::factor_acts::TwoStep;
use super::fixtures::{MINUTE, World, at, mac};
use latchkey_store::{BegunTotp, ChangedFactors, ConfirmedTotp, Enroller, ResetFactors};

pub(super) async fn a_second_factor_is_added_and_a_third_is_refused(world: World) {
    let TwoStep { user, session, factor } = world.two_step("ada", at(0)).await;
    world.mails(at(0)).await;
    let second = world.pend(user.id, session.id, at(1)).await;

    let ConfirmedTotp::Added(added) = world.confirm(user.id, session.id, second, Some(7), at(2)).await else {
        panic!("not added")
    };

    assert_eq!(added.id, second);
    let listed = world.factors_of(user.id).await.totp;
    assert_eq!(listed.iter().map(|factor| factor.id).collect::<Vec<_>>(), [factor, second]);
    assert!(world.lives(session.id, at(3)).await);
    assert_eq!(world.mails(at(3)).await[0].kind, MailKind::TotpAdded);
    let third = world.totp(Enroller::Session(user.id, session.id), at(3));
    assert_eq!(world.begin_totp(third).await.unwrap(), BegunTotp::TooMany);
}

pub(super) async fn an_ended_session_changes_no_factor(world: World) {
    let two_step = world.two_step("ada", at(0)).await;
    let (user, session) = (two_step.user.id, two_step.session.id);
    let id = world.pend(user, session, at(0)).await;
    world.end_sessions_of(user, at(1)).await;

    let begin = world.totp(Enroller::Session(user, session), at(2));
    assert_eq!(world.begin_totp(begin).await.unwrap(), BegunTotp::NoEnroller);
    assert_eq!(world.confirm(user, session, id, Some(7), at(2)).await, ConfirmedTotp::NoEnroller);
    let off = world.factor_change(&two_step, (), AuditKind::TwoStepOff, at(2));
    assert_eq!(world.turn_two_step_off(off).await.unwrap(), ChangedFactors::NoSession);
    let codes = world.factor_change(&two_step, vec![mac(1)], AuditKind::RecoveryCodesMade, at(2));
    assert_eq!(world.replace_recovery_codes(codes).await.unwrap(), ChangedFactors::NoSession);
    assert_eq!(world.find_own_account(session, at(2)).await.unwrap(), None);
    assert!(world.user(user).await.has_two_step());
}

pub(super) async fn a_factor_is_renamed(world: World) {
    let two_step = world.two_step("ada", at(0)).await;
    let challenge = world.challenged(two_step.user.id, at(1)).await;
    let name = FactorName::parse("My phone").unwrap();
    let change = (two_step.factor, name.clone());

    let renamed =
        world.rename_totp(world.factor_change(&two_step, change, AuditKind::TotpAdded, at(2))).await.unwrap();

    assert!(matches!(renamed, ChangedFactors::Changed(factor) if factor.name == name));
    assert_eq!(world.factors_of(two_step.user.id).await.totp[0].name, name);
    assert!(world.found(challenge, at(3)).await.is_some());
}

pub(super) async fn a_factor_of_another_account_is_not_found(world: World) {
    let (ada, eve) = (world.two_step("ada", at(0)).await, world.two_step("eve", at(0)).await);
    let name = FactorName::of_totp();
    for factor in [eve.factor, world.id(at(1), FactorId::new)] {
        let rename = world.factor_change(&ada, (factor, name.clone()), AuditKind::TotpAdded, at(1));
        assert_eq!(world.rename_totp(rename).await.unwrap(), ChangedFactors::NotFound);
        let remove = world.factor_change(&ada, factor, AuditKind::TotpRemoved, at(1));
        assert_eq!(world.remove_totp(remove).await.unwrap(), ChangedFactors::NotFound);
    }
    assert_eq!(world.factors_of(eve.user.id).await.totp.len(), 1);
}

pub(super) async fn the_last_factor_stays_while_two_step_is_on(world: World) {
    let two_step = world.two_step("ada", at(0)).await;
    let (user, session) = (two_step.user.id, two_step.session.id);
    let remove = |at| world.factor_change(&two_step, two_step.factor, AuditKind::TotpRemoved, at);
    assert_eq!(world.remove_totp(remove(at(1))).await.unwrap(), ChangedFactors::LastSecondFactor);
    let second = world.pend(user, session, at(2)).await;
    world.confirm(user, session, second, Some(7), at(2)).await;
    let removal = remove(at(3));
    let event = removal.event.id;

    assert_eq!(world.remove_totp(removal).await.unwrap(), ChangedFactors::Changed(()));

    assert_eq!(world.factors_of(user).await.totp[0].id, second);
    assert_eq!(world.event_of(event).await.unwrap().user_id, Some(user));
    assert_eq!(world.remove_totp(remove(at(4))).await.unwrap(), ChangedFactors::NotFound);
}

pub(super) async fn two_step_turned_off_removes_the_factors_and_ends_no_session(world: World) {
    let two_step = world.two_step("ada", at(0)).await;
    world.mails(at(0)).await;
    let off = |now| world.factor_change(&two_step, (), AuditKind::TwoStepOff, now);

    assert_eq!(world.turn_two_step_off(off(at(1))).await.unwrap(), ChangedFactors::Changed(()));

    let user = world.user(two_step.user.id).await;
    assert!(!user.has_two_step());
    let factors = world.factors_of(user.id).await;
    assert_eq!((factors.totp.len(), factors.recovery_codes_left), (0, 0));
    assert!(world.lives(two_step.session.id, at(2)).await);
    assert_eq!(world.mails(at(2)).await[0].kind, MailKind::TwoStepOff);
    assert_eq!(world.turn_two_step_off(off(at(3))).await.unwrap(), ChangedFactors::Unchanged);
    assert!(world.mails(at(4)).await.is_empty());
    world.open_session(user.id, at(4)).await;
}

pub(super) async fn recovery_codes_are_replaced_while_two_step_is_on(world: World) {
    let two_step = world.two_step("ada", at(0)).await;
    world.mails(at(0)).await;
    let replace =
        |now| world.factor_change(&two_step, vec![mac(1), mac(2)], AuditKind::RecoveryCodesMade, now);

    let replaced = world.replace_recovery_codes(replace(at(1))).await.unwrap();

    assert_eq!(replaced, ChangedFactors::Changed(()));
    assert_eq!(world.factors_of(two_step.user.id).await.recovery_codes_left, 2);
    assert_eq!(world.mails(at(2)).await[0].kind, MailKind::RecoveryCodesMade);
    let off = world.factor_change(&two_step, (), AuditKind::TwoStepOff, at(2));
    world.turn_two_step_off(off).await.unwrap();
    let replaced = world.replace_recovery_codes(replace(at(3))).await.unwrap();
    assert_eq!(replaced, ChangedFactors::LastSecondFactor);
}

pub(super) async fn an_admin_removes_all_factors(world: World) {
    let TwoStep { user, session, .. } = world.two_step("ada", at(0)).await;
    let challenge = world.challenged(user.id, at(1)).await;
    world.mails(at(1)).await;
    let event = world.event(AuditKind::FactorsReset, at(2));
    let reset = ResetFactors {
        user_id: user.id,
        with_passkeys: false,
        event: event.clone(),
        mail: Some(world.mail(at(2))),
        protection: Protection::Operators,
        even_last_owner: false,
        now: at(2),
    };

    assert!(world.reset_factors(reset.clone()).await.unwrap().unwrap());

    let found = world.find_factors(user.id).await.unwrap().unwrap();
    assert!(!found.user.has_two_step());
    assert_eq!((found.factors.totp.len(), found.factors.recovery_codes_left), (0, 0));
    assert!(!world.lives(session.id, at(3)).await);
    assert!(world.found(challenge, at(3)).await.is_none());
    assert_eq!(world.event_of(event.id).await.unwrap().user_id, Some(user.id));
    assert_eq!(world.mails(at(3)).await[0].kind, MailKind::FactorsReset);
    let event = world.event(AuditKind::FactorsReset, at(3));
    let unknown = ResetFactors { user_id: world.user_id(at(3)), event, ..reset };
    assert!(!world.reset_factors(unknown).await.unwrap().unwrap());
}

pub(super) async fn a_change_of_factors_ends_challenges_and_second_reset_tokens(world: World) {
    let two_step = world.two_step("ada", at(0)).await;
    let (user, session) = (two_step.user.id, two_step.session.id);
    for step in 1..=3 {
        let now = at(step * MINUTE);
        let challenge = world.challenged(user, now).await;
        let token = world.second_reset_token(&two_step, 200 + step, now).await;
        match step {
            1 => {
                let second = world.pend(user, session, now).await;
                world.confirm(user, session, second, Some(7), now).await;
            }
            2 => {
                let codes = world.factor_change(&two_step, vec![mac(1)], AuditKind::RecoveryCodesMade, now);
                world.replace_recovery_codes(codes).await.unwrap();
            }
            _ => {
                let off = world.factor_change(&two_step, (), AuditKind::TwoStepOff, now);
                world.turn_two_step_off(off).await.unwrap();
            }
        }
        assert!(world.found(challenge, now).await.is_none(), "change {step}");
        assert!(!world.can_reset(token, now).await, "change {step}");
    }
}
