//! Cases of operators: grants, their activation, and the protection of operators' accounts.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::{Grant, Ineligible, OperatorRefusal, Protection, Role};
use latchkey_domain::passkey::RpId;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use serde_json::json;

use super::factor_acts::TwoStep;
use super::fixtures::{DAY, MINUTE, World, at, email};
use super::passkey_acts::rp_id;
use super::races::{count, race};
use latchkey_store::{
    ActivateOperator, ActivatedOperator, GrantOperator, GrantedOperator, NewToken, RemovePasskeyOf,
    RenewActivation, RenewedActivation, ResetFactors, RevokeOperator, RevokedOperator, UpdateUser,
    UpdateUserOutcome,
};

impl World {
    fn activation(&self, now: Timestamp) -> NewToken {
        self.new_token(now, std::time::Duration::from_mins(30))
    }

    pub(super) fn grant(&self, user_id: UserId, role: Role, now: Timestamp) -> GrantOperator {
        let event = self.event(AuditKind::OperatorGranted, now);
        GrantOperator { user_id, role, granted_by: None, activation: self.activation(now), event, now }
    }

    pub(super) fn renewal(&self, user_id: UserId, now: Timestamp) -> RenewActivation {
        let event = self.event(AuditKind::OperatorLinkMade, now);
        RenewActivation { user_id, activation: self.activation(now), even_last_owner: true, event }
    }

    pub(super) fn activate(&self, of: &TwoStep, token: TokenHash, now: Timestamp) -> ActivateOperator {
        ActivateOperator {
            user_id: of.user.id,
            session_id: of.session.id,
            token,
            needs_factor: true,
            rp_id: None,
            event: self.event(AuditKind::OperatorActivated, now),
            now,
        }
    }

    /// Creates an operator with two-step sign-in, whose grant is active.
    pub(super) async fn operator(&self, name: &str, role: Role, now: Timestamp) -> TwoStep {
        let two_step = self.two_step(name, now).await;
        self.make_operator(&two_step, role, now).await;
        two_step
    }

    /// Gives an account a role, and activates it.
    pub(super) async fn make_operator(&self, two_step: &TwoStep, role: Role, now: Timestamp) {
        self.make_operator_of(two_step, role, true, now).await;
    }

    /// Makes an owner, and activates the grant although two-step sign-in is off.
    pub(super) async fn make_operator_without_two_step(&self, of: &TwoStep, now: Timestamp) {
        self.make_operator_of(of, Role::Owner, false, now).await;
    }

    async fn make_operator_of(&self, of: &TwoStep, role: Role, needs_factor: bool, now: Timestamp) {
        let grant = self.grant(of.user.id, role, now);
        let token = grant.activation.hash;
        assert_eq!(self.grant_operator(grant).await.unwrap(), Ok(GrantedOperator::Asleep));
        let activate = ActivateOperator { needs_factor, ..self.activate(of, token, now) };
        assert_eq!(self.activate_operator(activate).await.unwrap(), ActivatedOperator::Activated);
    }

    pub(super) async fn grant_of(&self, id: UserId) -> Option<Grant> {
        let operators = self.list_operators().await.unwrap();
        operators.into_iter().find(|operator| operator.user.id == id).map(|operator| operator.grant)
    }

    /// True if the account has a grant, and it is active.
    pub(super) async fn is_active(&self, id: UserId) -> bool {
        self.grant_of(id).await.is_some_and(|grant| grant.activated_at.is_some())
    }

    async fn revoke(
        &self,
        user_id: UserId,
        even_last_owner: bool,
    ) -> Result<RevokedOperator, OperatorRefusal> {
        let event = self.event(AuditKind::OperatorRevoked, at(MINUTE));
        self.revoke_operator(RevokeOperator { user_id, even_last_owner, event }).await.unwrap()
    }

    pub(super) async fn try_ban(&self, id: UserId, protection: Protection) -> UpdateUserOutcome {
        let ban = UpdateUser { banned: Some(true), protection, ..self.change(id, at(MINUTE)) };
        self.update_user(ban).await.unwrap()
    }

    async fn try_delete(&self, ids: &[UserId], protection: Protection) -> Result<u64, OperatorRefusal> {
        let events = ids.iter().map(|_| self.event(AuditKind::UserDeleted, at(MINUTE))).collect();
        self.delete_users(ids, events, protection).await.unwrap()
    }
}

const REVOKED: RevokedOperator = RevokedOperator::Revoked { was_last_owner: false };

pub(super) async fn a_grant_sleeps_until_its_own_link_is_used(world: World) {
    let (ada, eve) = (world.two_step("ada", at(0)).await, world.two_step("eve", at(0)).await);
    let (of_ada, of_eve) =
        (world.grant(ada.user.id, Role::Admin, at(1)), world.grant(eve.user.id, Role::Admin, at(1)));
    let (token, foreign) = (of_ada.activation.hash, of_eve.activation.hash);
    for grant in [of_ada, of_eve] {
        assert_eq!(world.grant_operator(grant).await.unwrap(), Ok(GrantedOperator::Asleep));
    }
    let used = async |token, now| world.activate_operator(world.activate(&ada, token, now)).await.unwrap();

    assert_eq!(used(foreign, at(2)).await, ActivatedOperator::Refused);
    assert_eq!(used(world.token(), at(2)).await, ActivatedOperator::Refused);
    assert_eq!(used(token, at(1 + 30 * MINUTE)).await, ActivatedOperator::Refused, "expired");
    assert!(!world.is_active(ada.user.id).await);
    assert_eq!(used(token, at(30 * MINUTE)).await, ActivatedOperator::Activated);

    let grant = world.grant_of(ada.user.id).await.unwrap();
    let expected = Grant {
        role: Role::Admin,
        granted_by: None,
        granted_at: at(1),
        activated_at: Some(at(30 * MINUTE)),
        activation_expires_at: None,
    };
    assert_eq!(grant, expected);
    assert_eq!(used(token, at(30 * MINUTE)).await, ActivatedOperator::Refused, "used up");
    assert!(!world.is_active(eve.user.id).await);
}

pub(super) async fn an_activation_needs_a_live_session_and_two_step_sign_in(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    let ended = world.open_session(user.id, at(0)).await;
    let grant = world.grant(user.id, Role::Owner, at(1));
    let token = grant.activation.hash;
    world.grant_operator(grant).await.unwrap().unwrap();
    let ada = TwoStep { user, session, factor: world.id(at(0), latchkey_domain::factors::FactorId::new) };
    let which = latchkey_store::EndedSession::Own(ada.user.id, ended.id);
    world.end_sessions(which, world.event(AuditKind::SignedOut, at(1)), at(1)).await.unwrap();

    let of_ended = ActivateOperator { session_id: ended.id, ..world.activate(&ada, token, at(2)) };
    assert_eq!(world.activate_operator(of_ended).await.unwrap(), ActivatedOperator::NoSession);
    let without = world.activate(&ada, token, at(2));
    assert_eq!(world.activate_operator(without.clone()).await.unwrap(), ActivatedOperator::NoFactor);
    let in_development = ActivateOperator { needs_factor: false, ..without };
    assert_eq!(world.activate_operator(in_development).await.unwrap(), ActivatedOperator::Activated);
}

pub(super) async fn a_usable_passkey_activates_a_grant(world: World) {
    let user = world.verified("ada", at(0)).await;
    let session = world.open_session(user.id, at(0)).await;
    world.add_passkey(user.id, session.id, at(0)).await;
    let grant = world.grant(user.id, Role::Owner, at(1));
    let token = grant.activation.hash;
    world.grant_operator(grant).await.unwrap().unwrap();
    let ada = TwoStep { user, session, factor: world.id(at(0), latchkey_domain::factors::FactorId::new) };
    let activated = async |rp_id| {
        let activate = ActivateOperator { rp_id, ..world.activate(&ada, token, at(2)) };
        world.activate_operator(activate).await.unwrap()
    };

    for unusable in [None, Some(RpId::new("elsewhere.example"))] {
        assert_eq!(activated(unusable).await, ActivatedOperator::NoFactor);
    }
    assert_eq!(activated(Some(rp_id())).await, ActivatedOperator::Activated);
}

pub(super) async fn only_a_verified_account_in_use_becomes_an_operator(world: World) {
    let (unverified, banned) = (world.unverified("eve", at(0)).await, world.verified("bob", at(0)).await);
    world.ban(banned.id, at(0)).await;
    let in_deletion = world.in_deletion("ada", at(0)).await.user;
    let granted = async |id| world.grant_operator(world.grant(id, Role::Viewer, at(1))).await.unwrap();

    assert_eq!(granted(unverified.id).await, Ok(GrantedOperator::Ineligible(Ineligible::Unverified)));
    assert_eq!(granted(banned.id).await, Ok(GrantedOperator::Ineligible(Ineligible::Banned)));
    assert_eq!(granted(in_deletion).await, Ok(GrantedOperator::Ineligible(Ineligible::InDeletion)));
    assert_eq!(granted(world.user_id(at(0))).await, Ok(GrantedOperator::NotFound));

    assert_eq!(world.list_operators().await.unwrap(), []);
    let renewed = world.renew_activation(world.renewal(banned.id, at(1))).await.unwrap();
    assert_eq!(renewed, Ok(RenewedActivation::NotFound));
    assert_eq!(world.revoke(banned.id, true).await, Ok(RevokedOperator::NotFound));
}

pub(super) async fn a_change_of_role_keeps_the_activation(world: World) {
    let ada = world.operator("ada", Role::Viewer, at(0)).await;
    let grant = world.grant(ada.user.id, Role::Owner, at(5));
    let (event, token) = (grant.event.id, grant.activation.hash);

    assert_eq!(world.grant_operator(grant).await.unwrap(), Ok(GrantedOperator::Active));

    let grant = world.grant_of(ada.user.id).await.unwrap();
    assert_eq!((grant.role, grant.granted_at, grant.activated_at), (Role::Owner, at(5), Some(at(0))));
    let activated = world.activate_operator(world.activate(&ada, token, at(6))).await.unwrap();
    assert_eq!(activated, ActivatedOperator::Refused, "no link was stored");
    let event = world.event_of(event).await.unwrap();
    assert_eq!(event.user_id, Some(ada.user.id));
    assert_eq!(serde_json::Value::Object(event.details), json!({"role": "owner", "from": "viewer"}));
}

pub(super) async fn a_new_link_puts_the_grant_to_sleep_and_replaces_the_old_one(world: World) {
    let ada = world.operator("ada", Role::Owner, at(0)).await;
    let (first, second) = (world.renewal(ada.user.id, at(1)), world.renewal(ada.user.id, at(2)));
    let tokens = [first.activation.hash, second.activation.hash];

    for renewal in [first, second] {
        assert_eq!(world.renew_activation(renewal).await.unwrap(), Ok(RenewedActivation::Renewed));
    }

    assert!(!world.is_active(ada.user.id).await);
    let expected = [ActivatedOperator::Refused, ActivatedOperator::Activated];
    for (token, expected) in tokens.into_iter().zip(expected) {
        let activated = world.activate_operator(world.activate(&ada, token, at(3))).await.unwrap();
        assert_eq!(activated, expected);
    }
}

pub(super) async fn accounts_of_operators_are_protected_from_admin_keys(world: World) {
    let owner = world.operator("ada", Role::Owner, at(0)).await;
    let viewer = world.operator("eve", Role::Viewer, at(0)).await.user.id;
    let other = world.verified("bob", at(0)).await.id;
    let passkey = world.add_passkey(owner.user.id, owner.session.id, at(1)).await;
    let refused = UpdateUserOutcome::Refused(OperatorRefusal::Protected);
    let all = Protection::Operators;

    for id in [viewer, owner.user.id] {
        let change = UpdateUser { email: Some(email("new")), ..world.change(id, at(1)) };
        assert_eq!(world.update_user(change).await.unwrap(), refused);
        assert_eq!(world.try_ban(id, all).await, refused);
        assert_eq!(world.try_delete(&[other, id], all).await, Err(OperatorRefusal::Protected));
        assert_eq!(world.reset_all_factors(id, all).await, Err(OperatorRefusal::Protected));
    }
    let remove = world.removal(owner.user.id, passkey.id, all);
    assert_eq!(world.remove_passkey_of(remove).await.unwrap(), Err(OperatorRefusal::Protected));

    assert!(world.find_user(other).await.unwrap().is_some(), "all go, or none");
    assert!(world.is_active(viewer).await && world.lives(owner.session.id, at(2)).await);
    assert!(matches!(world.try_ban(viewer, Protection::LastOwner).await, UpdateUserOutcome::Updated(_)));
    assert!(matches!(world.try_ban(other, all).await, UpdateUserOutcome::Updated(_)));
    assert_eq!(world.try_delete(&[viewer], Protection::LastOwner).await, Ok(1));
    assert_eq!(world.grant_of(viewer).await, None);
}

pub(super) async fn the_last_owner_stays_whatever_is_tried(world: World) {
    let ada = world.operator("ada", Role::Owner, at(0)).await;
    let id = ada.user.id;
    let last = OperatorRefusal::LastOwner;

    assert_eq!(world.revoke(id, false).await, Err(last));
    assert_eq!(world.grant_operator(world.grant(id, Role::Admin, at(1))).await.unwrap(), Err(last));
    assert_eq!(world.try_ban(id, Protection::LastOwner).await, UpdateUserOutcome::Refused(last));
    assert_eq!(world.try_delete(&[id], Protection::LastOwner).await, Err(last));
    let own = super::email_change_acts::Mover { user: id, session: ada.session.id, name: "ada" };
    assert_eq!(world.delete_account(world.deletion(own, at(1))).await.unwrap(), Err(last));

    let user = world.user(id).await;
    assert!(!user.is_banned() && !user.is_in_deletion() && world.lives(ada.session.id, at(2)).await);
    assert_eq!(world.revoke(id, true).await, Ok(RevokedOperator::Revoked { was_last_owner: true }));
    assert_eq!(world.try_delete(&[id], Protection::LastOwner).await, Ok(1));
}

pub(super) async fn an_owner_who_cannot_enter_replaces_none(world: World) {
    let ada = world.operator("ada", Role::Owner, at(0)).await.user.id;
    let eve = world.operator("eve", Role::Owner, at(0)).await;
    let own = super::email_change_acts::Mover { user: eve.user.id, session: eve.session.id, name: "eve" };
    assert_eq!(world.delete_account(world.deletion(own, at(1))).await.unwrap(), Ok(true));

    assert_eq!(world.revoke(ada, false).await, Err(OperatorRefusal::LastOwner), "the other is in deletion");
    assert_eq!(world.revoke(eve.user.id, false).await, Ok(REVOKED));
    assert_eq!(world.finish(at(30 * DAY)).await, 1);
    assert!(world.is_active(ada).await);
}

pub(super) async fn of_two_owners_one_stays_however_they_leave(world: World) {
    let (ada, eve) =
        (world.operator("ada", Role::Owner, at(0)).await, world.operator("eve", Role::Owner, at(0)).await);
    let owners = [ada.user.id, eve.user.id];

    let left = race(&world, move |world, number| async move {
        let id = owners[number % 2];
        match number / 2 % 4 {
            0 => matches!(world.revoke(id, false).await, Ok(RevokedOperator::Revoked { .. })),
            1 => matches!(world.try_ban(id, Protection::LastOwner).await, UpdateUserOutcome::Updated(_)),
            2 => world.try_delete(&[id], Protection::LastOwner).await == Ok(1),
            _ => world
                .grant_operator(world.grant(id, Role::Admin, at(2)))
                .await
                .unwrap()
                .is_ok_and(|granted| granted == GrantedOperator::Active),
        }
    })
    .await;

    let operators = world.list_operators().await.unwrap();
    let stays = |operator: &&latchkey_domain::operator::Operator| {
        let standing = operator.standing();
        standing.role == Role::Owner && standing.can_enter
    };
    assert_eq!(operators.iter().filter(stays).count(), 1, "{left:?}");
    assert!(count(&left, |left| *left) >= 1, "{left:?}");
}

pub(super) async fn of_twenty_uses_of_a_link_one_activates(world: World) {
    let ada = world.two_step("ada", at(0)).await;
    let grant = world.grant(ada.user.id, Role::Owner, at(1));
    let activate = world.activate(&ada, grant.activation.hash, at(2));
    world.grant_operator(grant).await.unwrap().unwrap();

    let outcomes = race(&world, move |world, _| {
        let activate =
            ActivateOperator { event: world.event(AuditKind::OperatorActivated, at(2)), ..activate.clone() };
        async move { world.activate_operator(activate).await.unwrap() }
    })
    .await;

    assert_eq!(count(&outcomes, |outcome| *outcome == ActivatedOperator::Activated), 1, "{outcomes:?}");
}

/// Helpers for the removal of factors by others.
impl World {
    pub(super) async fn reset_all_factors(
        &self,
        user_id: UserId,
        protection: Protection,
    ) -> Result<bool, OperatorRefusal> {
        let reset = ResetFactors {
            user_id,
            with_passkeys: false,
            event: self.event(AuditKind::FactorsReset, at(MINUTE)),
            mail: None,
            protection,
            even_last_owner: false,
            now: at(MINUTE),
        };
        self.reset_factors(reset).await.unwrap()
    }

    pub(super) fn removal(
        &self,
        user_id: UserId,
        passkey: latchkey_domain::ids::PasskeyId,
        protection: Protection,
    ) -> RemovePasskeyOf {
        RemovePasskeyOf {
            user_id,
            passkey,
            event: self.event(AuditKind::PasskeyRemoved, at(MINUTE)),
            mail: None,
            rp_id: Some(rp_id()),
            protection,
            even_last_owner: false,
            now: at(MINUTE),
        }
    }
}
