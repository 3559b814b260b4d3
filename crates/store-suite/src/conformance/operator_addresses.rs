//! Cases of grants for addresses without an account.

use std::time::Duration;

use latchkey_domain::audit::AuditKind;
use latchkey_domain::operator::{AddressGrantId, OperatorRefusal, Protection, Role};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use serde_json::json;

use super::fixtures::{MINUTE, World, at, email, key};
use latchkey_store::{
    AdoptGrant, GrantAddress, GrantedAddress, GrantedOperator, RevokeAddress, UpdateUserOutcome,
};

impl World {
    fn address_grant(&self, name: &str, role: Role, now: Timestamp) -> GrantAddress {
        GrantAddress {
            id: self.id(now, AddressGrantId::new),
            email: email(name),
            role,
            granted_by: None,
            activation: self.new_token(now, Duration::from_mins(30)),
            event: self.event(AuditKind::OperatorGranted, now),
            now,
        }
    }

    async fn adopt(&self, token: TokenHash, now: Timestamp) -> bool {
        let event = self.event(AuditKind::OperatorGranted, now);
        self.adopt_grant(AdoptGrant { token, event, now }).await.unwrap()
    }

    /// Addresses and roles of all grants without an account.
    async fn waiting(&self) -> Vec<(String, Role)> {
        let grants = self.list_address_grants().await.unwrap();
        grants.iter().map(|grant| (grant.email.as_typed().to_owned(), grant.grant.role)).collect()
    }
}

pub(super) async fn a_grant_for_an_address_passes_on_to_the_account_that_gets_it(world: World) {
    let grant = world.address_grant("ada", Role::Admin, at(0));
    let (token, id) = (grant.activation.hash, grant.id);
    assert_eq!(world.grant_address(grant).await.unwrap(), GrantedAddress::Asleep);
    let found = world.find_address_grant(token, at(1)).await.unwrap().unwrap();
    assert_eq!((found.id, found.grant.activated_at), (id, None));
    assert!(!world.adopt(token, at(1)).await, "there is no account");
    let ada = world.verified("ada", at(2)).await;

    assert!(world.adopt(token, at(3)).await);

    let given = world.grant_of(ada.id).await.unwrap();
    assert_eq!((given.role, given.granted_at, given.activated_at), (Role::Admin, at(0), None));
    assert!(world.is_activation_valid(ada.id, token, at(4)).await.unwrap(), "the link stays valid");
    assert_eq!(world.waiting().await, []);
    assert!(
        !world.adopt(token, at(4)).await && world.find_address_grant(token, at(4)).await.unwrap().is_none()
    );
    let events = world.events().await;
    let given: Vec<_> = events.iter().filter(|event| event.kind == AuditKind::OperatorGranted).collect();
    assert_eq!((given[0].user_id, given[1].user_id), (Some(ada.id), None), "newest first");
    for event in given {
        assert_eq!(json!(event.details), json!({"role": "admin", "grant": id.to_string()}));
    }
}

pub(super) async fn an_account_that_may_not_be_an_operator_gets_no_waiting_grant(world: World) {
    world.pending("ada", at(0)).await;
    let grant = world.address_grant("ada", Role::Viewer, at(1));
    let token = grant.activation.hash;

    assert_eq!(world.grant_address(grant).await.unwrap(), GrantedAddress::Asleep, "a sign-up is no account");
    assert!(!world.adopt(token, at(2)).await, "the address is not verified");
    let eve = world.verified("eve", at(3)).await;
    assert!(!world.adopt(world.token(), at(3)).await);

    assert_eq!(world.waiting().await, [("ada@example.org".to_owned(), Role::Viewer)]);
    assert!(world.grant_of(eve.id).await.is_none());
}

pub(super) async fn an_address_with_an_account_gets_no_grant_of_its_own(world: World) {
    let ada = world.verified("ada", at(0)).await;
    let grant = world.address_grant("ADA", Role::Owner, at(1));

    assert_eq!(world.grant_address(grant).await.unwrap(), GrantedAddress::HasAccount);

    assert_eq!(world.waiting().await, []);
    assert!(world.grant_of(ada.id).await.is_none());
}

pub(super) async fn a_grant_of_the_account_ends_that_of_its_address(world: World) {
    let grant = world.address_grant("ada", Role::Owner, at(0));
    let token = grant.activation.hash;
    world.grant_address(grant).await.unwrap();
    let ada = world.verified("ada", at(1)).await;

    let granted = world.grant_operator(world.grant(ada.id, Role::Viewer, at(2))).await.unwrap();

    assert_eq!(granted, Ok(GrantedOperator::Asleep));
    assert!(!world.adopt(token, at(3)).await);
    assert_eq!(world.grant_of(ada.id).await.unwrap().role, Role::Viewer);
    assert_eq!(world.waiting().await, []);
}

pub(super) async fn a_waiting_grant_is_replaced_expires_and_is_revoked(world: World) {
    let first = world.address_grant("ada", Role::Owner, at(0));
    let second = world.address_grant("Ada", Role::Viewer, at(1));
    let (old, new) = (first.activation.hash, second.activation.hash);
    world.grant_address(first).await.unwrap();
    world.grant_address(second).await.unwrap();

    assert_eq!(world.waiting().await, [("Ada@example.org".to_owned(), Role::Viewer)]);
    let is_found = async |token, now| world.find_address_grant(token, now).await.unwrap().is_some();
    assert!(!is_found(old, at(2)).await && is_found(new, at(30 * MINUTE)).await);
    assert!(!is_found(new, at(1 + 30 * MINUTE)).await);
    world.verified("ada", at(2)).await;
    assert!(!world.adopt(new, at(1 + 30 * MINUTE)).await, "the link has expired");
    let revoke =
        || RevokeAddress { email: key("ada"), event: world.event(AuditKind::OperatorRevoked, at(3)) };
    assert!(world.revoke_address(revoke()).await.unwrap());
    assert!(!world.revoke_address(revoke()).await.unwrap());

    assert_eq!(world.waiting().await, []);
}

pub(super) async fn an_account_for_which_a_grant_waits_is_protected(world: World) {
    world.grant_address(world.address_grant("ada", Role::Admin, at(0))).await.unwrap();
    let ada = world.verified("ada", at(1)).await.id;
    let bob = world.verified("bob", at(1)).await.id;
    let eve = world.operator("eve", Role::Viewer, at(1)).await.user.id;
    let refused = UpdateUserOutcome::Refused(OperatorRefusal::Protected);
    let protected = world.list_protected_accounts().await.unwrap();
    assert_eq!(protected.into_iter().collect::<Vec<_>>(), [(ada, Role::Admin), (eve, Role::Viewer)]);

    assert_eq!(world.try_ban(ada, Protection::Operators).await, refused);

    assert!(matches!(world.try_ban(bob, Protection::Operators).await, UpdateUserOutcome::Updated(_)));
    assert!(matches!(world.try_ban(ada, Protection::LastOwner).await, UpdateUserOutcome::Updated(_)));
}
