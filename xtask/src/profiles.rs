//! Check of the build profiles. The profile `dist` must not inherit settings of `release` that exist
//! only to build quickly.

use toml::{Table, Value};

#[test]
fn dist_optimises_every_package_in_full() {
    let manifest: Table = include_str!("../../Cargo.toml").parse().unwrap();
    let release = &manifest["profile"]["release"]["package"];
    let dist = &manifest["profile"]["dist"];
    let level = |profile: &Value| profile.get("opt-level").and_then(Value::as_integer);

    assert_eq!(level(dist), Some(3));
    for (name, in_release) in release.as_table().unwrap() {
        let in_dist = dist["package"].get(name).unwrap_or(in_release);
        assert_eq!(level(in_dist), Some(3), "{name}");
    }
}

#[test]
fn dist_puts_back_only_what_release_lowers() {
    let manifest: Table = include_str!("../../Cargo.toml").parse().unwrap();
    let profile = &manifest["profile"];
    for name in profile["dist"]["package"].as_table().unwrap().keys() {
        assert_ne!(profile["release"]["package"][name]["opt-level"].as_integer(), Some(3), "{name}");
    }
}
