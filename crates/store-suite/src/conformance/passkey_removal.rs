//! Cases of the removal of passkeys, and of its refusal for the last factor or way to sign in.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::ids::{PasskeyId, UserId};
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::operator::Protection;
use latchkey_domain::sign_in_offer::SignInOffer;

use super::factor_acts::TwoStep;
use super::fixtures::{World, at};
use super::oauth_acts::{google, provider};
use super::passkey_acts::{mailed, offer, rp_id};
use super::passkey_challenges::turning_on;
use latchkey_store::{
    ChangedFactors, RemovePasskeyOf, ResetFactors, UnlinkIdentity, UnlinkOutcome, Unlinker,
};

pub(super) async fn a_removal_ends_the_other_sessions_of_the_passkey(world: World) {
    let user = world.verified("ada", at(0)).await;
    let by_password = world.open_session(user.id, at(0)).await;
    let passkey = world.add_passkey(user.id, by_password.id, at(1)).await;
    let other = world.add_passkey(user.id, by_password.id, at(1)).await;
    let caller = world.enter_with_passkey(passkey.id, 6, at(2)).await.unwrap();
    let stolen = world.enter_with_passkey(passkey.id, 7, at(2)).await.unwrap();
    let of_other = world.enter_with_passkey(other.id, 6, at(2)).await.unwrap();
    let (challenge, _) = world.step_up(caller, at(2)).await.unwrap();
    world.mails(at(2)).await;

    let removed = world.take_passkey((user.id, caller), passkey.id, at(3)).await;

    let ChangedFactors::Changed(left) = removed else { panic!("{removed:?}") };
    assert_eq!(left.passkeys.iter().map(|one| one.id).collect::<Vec<_>>(), [other.id]);
    assert!(!world.lives(stolen, at(4)).await);
    for id in [caller, by_password.id, of_other] {
        assert!(world.lives(id, at(4)).await);
    }
    assert!(world.found(challenge, at(4)).await.is_none());
    assert_eq!(mailed(&world, at(3)).await, [MailKind::PasskeyRemoved]);
    assert!(world.known_passkey(&passkey.credential_id, &rp_id()).await.is_none());
    let again = world.take_passkey((user.id, caller), passkey.id, at(4)).await;
    assert_eq!(again, ChangedFactors::NotFound);
}

pub(super) async fn a_passkey_of_another_account_is_not_removed(world: World) {
    let user = world.verified("ada", at(0)).await;
    let eve = world.verified("eve", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let foreign = world.open_session(eve.id, at(0)).await;
    let passkey = world.add_passkey(user.id, session.id, at(1)).await;

    let removed = world.take_passkey((eve.id, foreign.id), passkey.id, at(2)).await;
    assert_eq!(removed, ChangedFactors::NotFound);
    let removed = world.take_passkey((user.id, foreign.id), passkey.id, at(2)).await;
    assert_eq!(removed, ChangedFactors::NoSession);
    assert_eq!(world.passkeys_of(user.id).await.len(), 1);
}

pub(super) async fn the_last_way_in_is_not_removed(world: World) {
    let user = world.enter(google("1", "ada"), at(0)).await;
    let session = world.list_sessions(user.id, at(0)).await.unwrap()[0].id;
    let first = world.add_passkey(user.id, session, at(1)).await;
    let second = world.add_passkey(user.id, session, at(1)).await;
    let foreign = world.add_foreign_passkey(user.id, session, at(1)).await;
    let owner = (user.id, session);

    let removed = world.take_passkey(owner, first.id, at(2)).await;
    assert!(matches!(removed, ChangedFactors::Changed(_)), "{removed:?}");
    assert_eq!(world.take_passkey(owner, second.id, at(2)).await, ChangedFactors::LastWayIn);
    let removed = world.take_passkey(owner, foreign.id, at(2)).await;
    assert!(matches!(removed, ChangedFactors::Changed(_)), "{removed:?}");
    let remove = || world.passkey_change(owner, second.id, AuditKind::PasskeyRemoved, at(3));
    let with_mail = SignInOffer { by_email: true, ..offer() };
    let removed = world.remove_passkey(remove(), with_mail).await.unwrap();
    assert!(matches!(removed, ChangedFactors::Changed(_)), "{removed:?}");
}

pub(super) async fn an_identity_may_go_while_a_usable_passkey_is_left(world: World) {
    let user = world.enter(google("1", "ada"), at(0)).await;
    let session = world.list_sessions(user.id, at(0)).await.unwrap()[0].id;
    world.add_foreign_passkey(user.id, session, at(1)).await;
    let unlink = || UnlinkIdentity {
        user_id: user.id,
        provider: provider("google"),
        subject: None,
        offer: offer(),
        by: Unlinker::Owner(session),
        event: world.event(AuditKind::IdentityUnlinked, at(2)),
        mail: None,
        now: at(2),
    };

    assert_eq!(world.unlink_identity(unlink()).await.unwrap(), UnlinkOutcome::LastWayIn);
    world.add_passkey(user.id, session, at(1)).await;
    let unlinked = world.unlink_identity(unlink()).await.unwrap();

    assert!(matches!(unlinked, UnlinkOutcome::Unlinked(_)), "{unlinked:?}");
    assert_eq!(world.user(user.id).await.providers(), ["passkey"]);
}

pub(super) async fn the_last_second_factor_is_not_removed(world: World) {
    let two_step = world.two_step("ada", at(0)).await;
    let owner = (two_step.user.id, two_step.session.id);
    let foreign = world.add_foreign_passkey(owner.0, owner.1, at(1)).await;
    let remove_totp = || world.factor_change(&two_step, two_step.factor, AuditKind::TotpRemoved, at(2));
    let removed = world.remove_totp(remove_totp()).await.unwrap();
    assert_eq!(removed, ChangedFactors::LastSecondFactor, "the passkey is of another relying party");
    let passkey = world.add_passkey(owner.0, owner.1, at(2)).await;

    assert_eq!(world.remove_totp(remove_totp()).await.unwrap(), ChangedFactors::Changed(()));

    assert_eq!(world.take_passkey(owner, passkey.id, at(3)).await, ChangedFactors::LastSecondFactor);
    let removed = world.take_passkey(owner, foreign.id, at(3)).await;
    assert!(matches!(removed, ChangedFactors::Changed(_)), "{removed:?}");
}

pub(super) async fn turning_two_step_off_keeps_passkeys(world: World) {
    let two_step = world.two_step("ada", at(0)).await;
    let (user, session) = (two_step.user.id, two_step.session.id);
    let passkey = world.add_passkey(user, session, at(1)).await;

    world.turn_two_step_off(world.factor_change(&two_step, (), AuditKind::TwoStepOff, at(2))).await.unwrap();

    let factors = world.factors_of(user).await;
    assert_eq!((factors.totp.len(), factors.recovery_codes_left), (0, 0));
    assert_eq!(factors.passkeys, [passkey]);
}

pub(super) async fn an_admin_removes_one_passkey(world: World) {
    let user = world.verified("ada", at(0)).await;
    let eve = world.verified("eve", at(0)).await;
    let by_password = world.open_session(user.id, at(0)).await;
    let passkey = world.add_passkey(user.id, by_password.id, at(1)).await;
    let opened = world.enter_with_passkey(passkey.id, 6, at(2)).await.unwrap();
    world.mails(at(2)).await;
    let remove = |user_id: UserId, passkey: PasskeyId| RemovePasskeyOf {
        user_id,
        passkey,
        event: world.event(AuditKind::PasskeyRemoved, at(3)),
        mail: Some(world.mail(at(3))),
        rp_id: Some(super::passkey_acts::rp_id()),
        protection: Protection::Operators,
        even_last_owner: false,
        now: at(3),
    };
    assert!(
        !world.remove_passkey_of(remove(eve.id, passkey.id)).await.unwrap().unwrap(),
        "of another account"
    );
    let own = remove(user.id, passkey.id);
    let event = own.event.id;

    assert!(world.remove_passkey_of(own).await.unwrap().unwrap());

    assert!(!world.remove_passkey_of(remove(user.id, passkey.id)).await.unwrap().unwrap());
    assert!(!world.lives(opened, at(4)).await && world.lives(by_password.id, at(4)).await);
    assert_eq!(world.event_of(event).await.unwrap().user_id, Some(user.id));
    assert_eq!(mailed(&world, at(3)).await, [MailKind::PasskeyRemoved]);
}

pub(super) async fn the_last_factor_that_an_admin_removes_ends_two_step(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let passkey = world.add_passkey(user.id, session.id, at(0)).await;
    let mut on = turning_on(&world, &user, session.id);
    on.turned_on.recovery_codes = Vec::new();
    world.turn_two_step_on(on).await.unwrap();

    let removal = world.removal(user.id, passkey.id, Protection::Operators);
    assert_eq!(world.remove_passkey_of(removal).await.unwrap(), Ok(true));

    assert!(!world.user(user.id).await.has_two_step());
}

pub(super) async fn recovery_codes_keep_two_step_on_when_an_admin_removes_a_passkey(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let passkey = world.add_passkey(user.id, session.id, at(0)).await;
    world.turn_two_step_on(turning_on(&world, &user, session.id)).await.unwrap();

    let removal = world.removal(user.id, passkey.id, Protection::Operators);
    assert_eq!(world.remove_passkey_of(removal).await.unwrap(), Ok(true));

    assert!(world.user(user.id).await.has_two_step());
}

pub(super) async fn a_reset_of_factors_removes_passkeys_on_request(world: World) {
    let TwoStep { user, session, .. } = world.two_step("ada", at(0)).await;
    world.add_passkey(user.id, session.id, at(1)).await;
    let reset = |with_passkeys| ResetFactors {
        user_id: user.id,
        with_passkeys,
        event: world.event(AuditKind::FactorsReset, at(2)),
        mail: None,
        protection: Protection::Operators,
        even_last_owner: false,
        now: at(2),
    };

    assert!(world.reset_factors(reset(false)).await.unwrap().unwrap());
    assert_eq!(world.passkeys_of(user.id).await.len(), 1);
    assert!(world.reset_factors(reset(true)).await.unwrap().unwrap());
    assert_eq!(world.passkeys_of(user.id).await, []);
}
