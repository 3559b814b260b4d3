//! Cases of instances that report themselves.

use latchkey_domain::instance::{Instance, InstanceId};
use latchkey_domain::time::Timestamp;

use super::fixtures::{World, at};

fn instance(id: InstanceId, started_at: Timestamp, seen_at: Timestamp) -> Instance {
    Instance { id, version: "1.2.3".to_owned(), started_at, seen_at }
}

pub(super) async fn an_instance_is_listed_while_it_reports_itself(world: World) {
    let (first, second) = (world.id(at(0), InstanceId::new), world.id(at(1), InstanceId::new));
    let listed = async |since| world.list_instances(since).await.unwrap();
    world.save_instance(instance(second, at(1), at(1)), at(-100)).await.unwrap();
    world.save_instance(instance(first, at(0), at(2)), at(-100)).await.unwrap();
    world.save_instance(instance(second, at(1), at(9)), at(-100)).await.unwrap();

    let (one, two) = (instance(first, at(0), at(2)), instance(second, at(1), at(9)));
    assert_eq!(listed(at(1)).await, [one, two.clone()]);
    assert_eq!(listed(at(2)).await, [two]);
    assert_eq!(listed(at(9)).await, []);
    world.delete_instance(second).await.unwrap();
    assert_eq!(listed(at(2)).await, []);
    world.delete_instance(second).await.unwrap();
}

pub(super) async fn an_instance_that_was_not_seen_is_forgotten(world: World) {
    let (gone, here) = (world.id(at(0), InstanceId::new), world.id(at(0), InstanceId::new));
    world.save_instance(instance(gone, at(0), at(0)), at(-100)).await.unwrap();

    world.save_instance(instance(here, at(0), at(5)), at(0)).await.unwrap();

    assert_eq!(world.list_instances(at(-1)).await.unwrap(), [instance(here, at(0), at(5))]);
}
