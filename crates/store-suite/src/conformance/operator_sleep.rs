//! Cases of grants of operators that fall asleep, because the account loses second factors, or gets one
//! that none of it vouches for.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::factors::FactorName;
use latchkey_domain::operator::{OperatorRefusal, Protection, Role};

use super::factor_acts::{FIRST_STEP, TwoStep};
use super::fixtures::{World, at};
use super::passkey_acts::offer;
use latchkey_store::{
    ChangedFactors, ConfirmedTotp, Enroller, RegisterPasskey, RegisteredPasskey, RemovePasskeyOf, UndoOutcome,
};

const LAST_OWNER: Protection = Protection::LastOwner;

pub(super) async fn a_grant_sleeps_when_two_step_sign_in_is_turned_off(world: World) {
    let ada = world.operator("ada", Role::Owner, at(0)).await;
    let eve = world.operator("eve", Role::Owner, at(0)).await.user.id;
    world.add_passkey(ada.user.id, ada.session.id, at(1)).await;
    let rename = (ada.factor, FactorName::parse("Phone").unwrap());
    world.rename_totp(world.factor_change(&ada, rename, AuditKind::TotpAdded, at(1))).await.unwrap();
    assert!(world.is_active(ada.user.id).await, "the factors stayed");

    let off =
        world.turn_two_step_off(world.factor_change(&ada, (), AuditKind::TwoStepOff, at(2))).await.unwrap();

    assert_eq!(off, ChangedFactors::Changed(()));
    assert!(!world.is_active(ada.user.id).await && world.is_active(eve).await);
}

pub(super) async fn the_last_owner_is_not_put_to_sleep_by_the_own_account(world: World) {
    let ada = world.operator("ada", Role::Owner, at(0)).await;
    let asleep = world.two_step("asleep", at(0)).await;
    let grant = world.grant(asleep.user.id, Role::Owner, at(0));
    world.grant_operator(grant).await.unwrap().unwrap();
    let off = async |of: &TwoStep, now| {
        let change = world.factor_change(of, (), AuditKind::TwoStepOff, at(now));
        world.turn_two_step_off(change).await.unwrap()
    };

    assert_eq!(off(&ada, 1).await, ChangedFactors::LastOwner);
    assert!(world.is_active(ada.user.id).await);
    assert_eq!(off(&asleep, 2).await, ChangedFactors::Changed(()), "a grant that sleeps is no loss");

    world.operator("eve", Role::Owner, at(3)).await;
    assert_eq!(off(&ada, 4).await, ChangedFactors::Changed(()));
    assert!(!world.is_active(ada.user.id).await);
}

pub(super) async fn a_grant_stays_active_while_another_factor_is_left(world: World) {
    let ada = world.operator("ada", Role::Owner, at(0)).await;
    let passkey = world.add_passkey(ada.user.id, ada.session.id, at(1)).await;
    world.add_passkey(ada.user.id, ada.session.id, at(1)).await;
    let caller = (ada.user.id, ada.session.id);

    let removed = world.take_passkey(caller, passkey.id, at(2)).await;
    let totp = world.factor_change(&ada, ada.factor, AuditKind::TotpRemoved, at(3));
    let without_app = world.remove_totp(totp).await.unwrap();

    assert!(matches!(removed, ChangedFactors::Changed(_)));
    assert_eq!(without_app, ChangedFactors::Changed(()));
    assert!(world.is_active(ada.user.id).await);
}

pub(super) async fn a_grant_sleeps_when_the_only_passkey_is_removed(world: World) {
    let (user, factor) =
        (world.verified("ada", at(0)).await, world.id(at(0), latchkey_domain::factors::FactorId::new));
    let session = world.open_session(user.id, at(0)).await;
    let passkey = world.add_passkey(user.id, session.id, at(1)).await;
    let ada = TwoStep { user, session, factor };
    world.make_operator_without_two_step(&ada, at(1)).await;
    let remove = |now| world.factor_change(&ada, passkey.id, AuditKind::PasskeyRemoved, at(now));
    let refused = world.remove_passkey(remove(2), offer()).await.unwrap();
    assert_eq!(refused, ChangedFactors::LastOwner);
    assert!(world.is_active(ada.user.id).await);
    world.operator("eve", Role::Owner, at(2)).await;
    let change = remove(3);

    let removed = world.remove_passkey(change, offer()).await.unwrap();

    assert!(matches!(removed, ChangedFactors::Changed(_)), "{removed:?}");
    assert!(!world.is_active(ada.user.id).await);
}

pub(super) async fn a_grant_sleeps_when_an_admin_removes_a_factor(world: World) {
    let ada = world.operator("ada", Role::Owner, at(0)).await;
    let eve = world.operator("eve", Role::Owner, at(0)).await;
    let passkey = world.add_passkey(ada.user.id, ada.session.id, at(1)).await;
    world.operator("bob", Role::Owner, at(1)).await;

    let removal = world.removal(ada.user.id, passkey.id, LAST_OWNER);
    assert_eq!(world.remove_passkey_of(removal).await.unwrap(), Ok(true));
    assert!(!world.is_active(ada.user.id).await && world.is_active(eve.user.id).await);
    assert_eq!(world.reset_all_factors(eve.user.id, LAST_OWNER).await, Ok(true));
    assert!(!world.is_active(eve.user.id).await);
}

pub(super) async fn the_grant_of_the_last_owner_sleeps_for_the_command_line_alone(world: World) {
    let ada = world.operator("ada", Role::Owner, at(0)).await;
    let passkey = world.add_passkey(ada.user.id, ada.session.id, at(1)).await;
    let last = Err(OperatorRefusal::LastOwner);

    let removal = world.removal(ada.user.id, passkey.id, LAST_OWNER);
    assert_eq!(world.remove_passkey_of(removal.clone()).await.unwrap(), last);
    assert_eq!(world.reset_all_factors(ada.user.id, LAST_OWNER).await, last);
    assert!(world.is_active(ada.user.id).await);

    let by_command = RemovePasskeyOf { even_last_owner: true, ..removal };
    assert_eq!(world.remove_passkey_of(by_command).await.unwrap(), Ok(true));
    assert!(!world.is_active(ada.user.id).await);
}

pub(super) async fn a_grant_sleeps_after_an_undo(world: World) {
    let user = world.verified("ada", at(0)).await;
    let (ada, token) = world.turn_on_with_undo(user.id, at(0)).await;
    world.make_operator(&ada, Role::Owner, at(1)).await;

    let undone = world.undo(world.use_undo(token, "ada", at(2))).await.unwrap().unwrap();

    assert_eq!(undone, UndoOutcome::Undone);
    assert!(!world.is_active(user.id).await);
}

pub(super) async fn a_grant_sleeps_when_a_factor_is_added_that_none_vouches_for(world: World) {
    for (name, by_passkey, sleeps) in
        [("ada", true, true), ("bob", false, true), ("eve", true, false), ("kim", false, false)]
    {
        let user = world.verified(name, at(0)).await;
        let session = world.open_session(user.id, at(0)).await;
        let enroller = Enroller::Session(user.id, session.id);
        let factor = world.pend(user.id, session.id, at(0)).await;
        let id = user.id;
        world.make_operator_without_two_step(&TwoStep { user, session, factor }, at(1)).await;

        if by_passkey {
            world.begin_registration(enroller.clone(), 1, at(2)).await;
            let register = RegisterPasskey { sleeps, ..world.registration(enroller, at(2)) };
            let registered = world.register_passkey(register).await.unwrap();
            assert!(matches!(registered, RegisteredPasskey::Added(_)), "{registered:?}");
        } else {
            let mut confirm = world.confirmation(enroller, factor, Some(FIRST_STEP), at(2));
            confirm.turned_on.sleeps = sleeps;
            let confirmed = world.confirm_totp(confirm).await.unwrap();
            assert!(matches!(confirmed, ConfirmedTotp::TurnedOn(..)), "{confirmed:?}");
        }

        assert_eq!(world.is_active(id).await, !sleeps, "{name}");
    }
}
