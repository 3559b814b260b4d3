//! Cases of signing keys: one signs, and its predecessors stay valid for a while.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::ids::KeyId;
use latchkey_domain::time::Timestamp;

use super::fixtures::{HOUR, World, at};
use latchkey_store::{NewSigningKey, StoredSigningKey};

pub(super) fn new_key(world: &World, now: Timestamp) -> NewSigningKey {
    let id = world.key_id(now);
    NewSigningKey { id, algorithm: "ES256".to_owned(), sealed: id.to_string().into_bytes(), created_at: now }
}

fn stored(key: &NewSigningKey, verify_until: Option<Timestamp>) -> StoredSigningKey {
    let NewSigningKey { id, algorithm, sealed, created_at } = key.clone();
    StoredSigningKey { id, algorithm, sealed, created_at, verify_until }
}

async fn rotate(world: &World, key: &NewSigningKey, replaces: KeyId, verify_until: Timestamp) -> bool {
    let event = world.event(AuditKind::KeyRotated, key.created_at);
    world.rotate_signing_key(key.clone(), replaces, verify_until, event).await.unwrap()
}

pub(super) async fn the_first_key_signs(world: World) {
    assert!(world.list_signing_keys(at(0)).await.unwrap().is_empty());
    let (first, second) = (new_key(&world, at(0)), new_key(&world, at(1)));

    assert_eq!(world.ensure_signing_key(first.clone()).await.unwrap(), stored(&first, None));
    assert_eq!(world.ensure_signing_key(second).await.unwrap(), stored(&first, None));

    assert_eq!(world.list_signing_keys(at(2)).await.unwrap(), [stored(&first, None)]);
}

pub(super) async fn a_rotated_key_signs_and_the_one_before_is_accepted_for_a_while(world: World) {
    let (first, second) = (new_key(&world, at(0)), new_key(&world, at(1)));
    world.ensure_signing_key(first.clone()).await.unwrap();

    assert!(rotate(&world, &second, first.id, at(HOUR)).await);

    let both = [stored(&second, None), stored(&first, Some(at(HOUR)))];
    assert_eq!(world.list_signing_keys(at(2)).await.unwrap(), both);
    assert_eq!(world.list_signing_keys(at(HOUR + 1)).await.unwrap(), both[..1]);
    assert_eq!(world.ensure_signing_key(new_key(&world, at(3))).await.unwrap(), both[0]);
}

pub(super) async fn several_former_keys_are_accepted_side_by_side(world: World) {
    let keys = [new_key(&world, at(0)), new_key(&world, at(1)), new_key(&world, at(2))];
    world.ensure_signing_key(keys[0].clone()).await.unwrap();
    assert!(rotate(&world, &keys[1], keys[0].id, at(HOUR)).await);
    assert!(rotate(&world, &keys[2], keys[1].id, at(2 * HOUR)).await);

    let listed = world.list_signing_keys(at(3)).await.unwrap();

    assert_eq!((listed.len(), &listed[0]), (3, &stored(&keys[2], None)));
    assert!(listed.contains(&stored(&keys[0], Some(at(HOUR)))));
    assert!(listed.contains(&stored(&keys[1], Some(at(2 * HOUR)))));
    assert_eq!(world.list_signing_keys(at(HOUR + 1)).await.unwrap().len(), 2);
}

pub(super) async fn a_rotation_of_another_key_than_the_one_that_signs_changes_nothing(world: World) {
    let keys = [new_key(&world, at(0)), new_key(&world, at(1)), new_key(&world, at(2))];
    world.ensure_signing_key(keys[0].clone()).await.unwrap();
    assert!(rotate(&world, &keys[1], keys[0].id, at(HOUR)).await);
    let before = (
        world.list_signing_keys(at(3)).await.unwrap(),
        world.shared_version().await.unwrap(),
        world.events().await,
    );

    assert!(!rotate(&world, &keys[2], keys[0].id, at(HOUR)).await);
    assert!(!rotate(&world, &keys[2], world.key_id(at(3)), at(HOUR)).await);

    let after = (
        world.list_signing_keys(at(3)).await.unwrap(),
        world.shared_version().await.unwrap(),
        world.events().await,
    );
    assert_eq!(after, before);
}

pub(super) async fn changes_of_keys_increment_the_shared_version(world: World) {
    let (first, second) = (new_key(&world, at(0)), new_key(&world, at(1)));
    let fresh = world.shared_version().await.unwrap();

    world.ensure_signing_key(first.clone()).await.unwrap();
    let ensured = world.shared_version().await.unwrap();
    assert!(rotate(&world, &second, first.id, at(HOUR)).await);
    let rotated = world.shared_version().await.unwrap();

    assert!(fresh < ensured && ensured < rotated, "{fresh} {ensured} {rotated}");
    assert_eq!(world.load_settings().await.unwrap().version, rotated);
}

pub(super) async fn a_rotation_is_audited(world: World) {
    let (first, second) = (new_key(&world, at(0)), new_key(&world, at(1)));
    world.ensure_signing_key(first.clone()).await.unwrap();
    let event = world.event(AuditKind::KeyRotated, at(1));

    assert!(world.rotate_signing_key(second, first.id, at(HOUR), event.clone()).await.unwrap());

    assert_eq!(world.event_of(event.id).await, Some(event));
}
