//! Check of the build profiles. The profile `dist` must not inherit settings of `release` that exist
//! only to build quickly, and packages on the path of nearly every request, which `release` names, are not made small.

use toml::{Table, Value};

#[test]
fn dist_optimises_in_full_what_release_names() {
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
fn dist_puts_back_what_release_lowers_and_keeps_small_what_release_does_not_name() {
    let manifest: Table = include_str!("../../Cargo.toml").parse().unwrap();
    let profile = &manifest["profile"];
    for (name, in_dist) in profile["dist"]["package"].as_table().unwrap() {
        let in_release = profile["release"]["package"].get(name).map(|one| &one["opt-level"]);
        if in_dist["opt-level"].as_str() == Some("s") {
            assert!(in_release.is_none(), "{name} is on the path of nearly every request");
        } else {
            assert_ne!(in_release.and_then(Value::as_integer), Some(3), "{name}");
        }
    }
}
