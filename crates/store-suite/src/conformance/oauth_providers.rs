//! Cases of configured identity providers.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::identity::ProviderKind;
use serde_json::json;

use super::fixtures::{World, at, object};
use super::oauth_acts::{configured, google, provider};
use latchkey_store::StoredProvider;

async fn listed(world: &World) -> Vec<StoredProvider> {
    let found = world.list_oauth_providers().await.unwrap();
    found.into_iter().map(|one| one.read().unwrap()).collect()
}

pub(super) async fn a_provider_is_stored_as_given(world: World) {
    let event = world.event(AuditKind::SettingsChanged, at(0));
    assert!(world.create_oauth_provider(configured("b", at(0)), event.clone()).await.unwrap());
    let built_in = StoredProvider { kind: ProviderKind::BuiltIn, ..configured("a", at(1)) };
    let other = world.event(AuditKind::SettingsChanged, at(1));
    assert!(world.create_oauth_provider(built_in.clone(), other).await.unwrap());

    assert_eq!(listed(&world).await, [built_in, configured("b", at(0))]);
    assert!(world.event_of(event.id).await.is_some());
}

pub(super) async fn a_key_is_of_one_provider(world: World) {
    let event = || world.event(AuditKind::SettingsChanged, at(0));
    assert!(world.create_oauth_provider(configured("a", at(0)), event()).await.unwrap());
    let second = StoredProvider { kind: ProviderKind::BuiltIn, ..configured("a", at(1)) };
    let (before, refused) = (world.shared_version().await.unwrap(), event());

    assert!(!world.create_oauth_provider(second, refused.clone()).await.unwrap());

    assert_eq!(listed(&world).await, [configured("a", at(0))]);
    assert_eq!(world.shared_version().await.unwrap(), before);
    assert!(world.event_of(refused.id).await.is_none());
}

pub(super) async fn a_provider_is_replaced(world: World) {
    let event = || world.event(AuditKind::SettingsChanged, at(0));
    world.create_oauth_provider(configured("a", at(0)), event()).await.unwrap();
    let config = object(json!({ "clientId": "another" }));
    let changed = StoredProvider { config, sealed: vec![9], ..configured("a", at(5)) };

    assert!(world.update_oauth_provider(changed.clone(), at(0), event()).await.unwrap());

    let kept = StoredProvider { created_at: at(0), ..changed.clone() };
    assert_eq!(listed(&world).await, [kept]);
    let of_other_kind = StoredProvider { kind: ProviderKind::BuiltIn, ..changed };
    assert!(!world.update_oauth_provider(of_other_kind, at(5), event()).await.unwrap());
    assert!(!world.update_oauth_provider(configured("b", at(6)), at(6), event()).await.unwrap());
}

pub(super) async fn of_two_concurrent_changes_one_is_refused(world: World) {
    let event = || world.event(AuditKind::SettingsChanged, at(0));
    world.create_oauth_provider(configured("a", at(0)), event()).await.unwrap();
    let (first, second) =
        (configured("a", at(1)), StoredProvider { sealed: vec![9], ..configured("a", at(2)) });
    assert!(world.update_oauth_provider(first.clone(), at(0), event()).await.unwrap());
    let refused = event();

    assert!(!world.update_oauth_provider(second, at(0), refused.clone()).await.unwrap());

    assert_eq!(listed(&world).await, [StoredProvider { created_at: at(0), ..first }]);
    assert!(world.event_of(refused.id).await.is_none());
}

pub(super) async fn a_deleted_provider_leaves_identities_alone(world: World) {
    let event = || world.event(AuditKind::SettingsChanged, at(0));
    world.create_oauth_provider(configured("google", at(0)), event()).await.unwrap();
    let user = world.enter(google("1", "ada"), at(0)).await;
    let key = provider("google");
    assert!(!world.delete_oauth_provider(&key, ProviderKind::BuiltIn, event()).await.unwrap());
    assert!(world.delete_oauth_provider(&key, ProviderKind::Custom, event()).await.unwrap());
    assert!(!world.delete_oauth_provider(&key, ProviderKind::Custom, event()).await.unwrap());

    assert_eq!(listed(&world).await, []);
    assert_eq!(world.enter(google("1", "ada"), at(1)).await.id, user.id);
}

pub(super) async fn every_change_increments_the_version(world: World) {
    let event = || world.event(AuditKind::SettingsChanged, at(0));
    let mut versions = vec![world.shared_version().await.unwrap()];
    world.create_oauth_provider(configured("a", at(0)), event()).await.unwrap();
    versions.push(world.shared_version().await.unwrap());
    world.update_oauth_provider(configured("a", at(1)), at(0), event()).await.unwrap();
    versions.push(world.shared_version().await.unwrap());
    world.delete_oauth_provider(&provider("a"), ProviderKind::Custom, event()).await.unwrap();
    versions.push(world.shared_version().await.unwrap());
    assert!(versions.windows(2).all(|pair| pair[0] < pair[1]), "{versions:?}");
}
