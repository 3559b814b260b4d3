//! Cases of settings stored by an admin, and of the readiness check.

use latchkey_domain::audit::AuditKind;
use serde_json::{Value, json};

use super::fixtures::{World, at};
use latchkey_store::SettingChange;

fn change(key: &str, value: Option<Value>) -> SettingChange {
    SettingChange { key: key.to_owned(), value }
}

async fn save(world: &World, changes: &[SettingChange]) {
    world.save_settings(changes, world.event(AuditKind::SettingsChanged, at(1)), at(1)).await.unwrap();
}

pub(super) async fn a_fresh_store_answers_and_has_no_settings(world: World) {
    world.check().await.unwrap();

    let settings = world.load_settings().await.unwrap();

    assert!(settings.values.is_empty());
    assert_eq!(world.shared_version().await.unwrap(), settings.version);
}

pub(super) async fn settings_are_kept_sorted_by_key(world: World) {
    let urls = json!(["https://ä.example/*", "myapp://callback"]);
    save(&world, &[change("b.list", Some(urls.clone())), change("a.flag", Some(json!(true)))]).await;
    save(&world, &[change("a.number", Some(json!(12.5))), change("c.null", Some(Value::Null))]).await;

    let settings = world.load_settings().await.unwrap();

    let expected =
        [("a.flag", json!(true)), ("a.number", json!(12.5)), ("b.list", urls), ("c.null", Value::Null)];
    assert_eq!(settings.values, expected.map(|(key, value)| (key.to_owned(), value)));
}

pub(super) async fn a_setting_is_replaced_and_reset(world: World) {
    save(&world, &[change("a", Some(json!(1))), change("b", Some(json!(2)))]).await;

    save(&world, &[change("a", Some(json!({"x": [3]}))), change("b", None), change("unset", None)]).await;

    assert_eq!(world.load_settings().await.unwrap().values, [("a".to_owned(), json!({"x": [3]}))]);
}

pub(super) async fn every_change_increments_the_version(world: World) {
    let mut version = world.shared_version().await.unwrap();
    for value in [Some(json!(1)), Some(json!(2)), None] {
        save(&world, &[change("a", value)]).await;

        let grown = world.shared_version().await.unwrap();

        assert!(grown > version);
        assert_eq!(world.load_settings().await.unwrap().version, grown);
        version = grown;
    }
}

pub(super) async fn a_change_of_settings_is_audited(world: World) {
    let event = world.event(AuditKind::SettingsChanged, at(1));

    world.save_settings(&[change("a", Some(json!(1)))], event.clone(), at(1)).await.unwrap();

    assert_eq!(world.events().await, [event]);
}
