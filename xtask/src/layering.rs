//! `cargo xtask layering`: checks that crates depend only on the crates that ARCHITECTURE.md allows. Development
//! dependencies are not checked.

use serde_json::Value;

use crate::step::{Outcome, output_of};

/// Each workspace crate with the workspace crates that it may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("latchkey-domain", &[]),
    ("latchkey-argon2id", &[]),
    ("latchkey-log", &[]),
    ("latchkey-measured", &[]),
    ("latchkey-metrics", &["latchkey-domain"]),
    ("latchkey-settings", &["latchkey-domain"]),
    ("latchkey-store", &["latchkey-domain", "latchkey-metrics"]),
    (
        "latchkey-store-operations",
        &["latchkey-domain", "latchkey-measured", "latchkey-metrics", "latchkey-store"],
    ),
    (
        "latchkey-store-sqlite",
        &["latchkey-domain", "latchkey-metrics", "latchkey-store", "latchkey-store-operations"],
    ),
    (
        "latchkey-store-postgres",
        &["latchkey-domain", "latchkey-metrics", "latchkey-store", "latchkey-store-operations"],
    ),
    ("latchkey-store-suite", &["latchkey-domain", "latchkey-store", "latchkey-store-postgres"]),
    ("latchkey-oauth", &["latchkey-domain"]),
    ("latchkey-mail", &["latchkey-domain"]),
    ("latchkey-pages", &["latchkey-domain"]),
    ("latchkey-search", &["latchkey-domain"]),
    ("latchkey-webauthn", &["latchkey-domain"]),
    ("latchkey-import", &["latchkey-domain"]),
    (
        "latchkey-service",
        &[
            "latchkey-domain",
            "latchkey-metrics",
            "latchkey-settings",
            "latchkey-store",
            "latchkey-oauth",
            "latchkey-mail",
            "latchkey-search",
            "latchkey-webauthn",
            "latchkey-import",
            "latchkey-argon2id",
        ],
    ),
    ("latchkey-http", &["latchkey-domain", "latchkey-metrics", "latchkey-service"]),
    ("latchkey-hosted", &["latchkey-domain", "latchkey-http", "latchkey-pages", "latchkey-service"]),
    (
        "latchkey",
        &[
            "latchkey-domain",
            "latchkey-metrics",
            "latchkey-settings",
            "latchkey-store",
            "latchkey-store-operations",
            "latchkey-store-sqlite",
            "latchkey-store-postgres",
            "latchkey-oauth",
            "latchkey-mail",
            "latchkey-pages",
            "latchkey-import",
            "latchkey-service",
            "latchkey-http",
            "latchkey-hosted",
            "latchkey-log",
        ],
    ),
    (
        "latchkey-testkit",
        &[
            "latchkey-domain",
            "latchkey-metrics",
            "latchkey-settings",
            "latchkey-store",
            "latchkey-store-sqlite",
            "latchkey-store-postgres",
            "latchkey-store-suite",
            "latchkey-oauth",
            "latchkey-mail",
            "latchkey-pages",
            "latchkey-service",
            "latchkey-http",
            "latchkey-hosted",
        ],
    ),
    (
        "latchkey-bench",
        &[
            "latchkey-argon2id",
            "latchkey-domain",
            "latchkey-store",
            "latchkey-store-sqlite",
            "latchkey-store-postgres",
            "latchkey-store-suite",
        ],
    ),
    ("xtask", &[]),
];

/// External crates, each with the only workspace crates that may depend on it.
const GUARDED: &[(&str, &[&str])] = &[
    ("rusqlite", &["latchkey-store-sqlite"]),
    ("tokio-postgres", &["latchkey-store-postgres", "latchkey-store-suite"]),
    ("axum", &["latchkey-http", "latchkey-hosted", "latchkey", "latchkey-testkit", "latchkey-bench"]),
    ("tracing-subscriber", &["latchkey-log"]),
    ("fearless_simd", &["latchkey-argon2id"]),
    ("reqwest", &["latchkey-oauth", "latchkey-testkit"]),
    ("multer", &["latchkey-http"]),
];

/// Reads the manifests through cargo and reports every forbidden dependency.
pub(crate) fn run(_: &[String]) -> Outcome {
    let json = output_of("cargo metadata --no-deps --format-version 1")?;
    let metadata = serde_json::from_slice(&json).map_err(|error| format!("cargo metadata: {error}"))?;
    let faults = faults(&metadata);
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n  ")) }
}

/// Returns the forbidden dependencies, one sentence each.
fn faults(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    if packages.is_empty() {
        return vec!["cargo metadata names no crate at all".to_owned()];
    }
    packages.iter().flat_map(faults_of).collect()
}

fn faults_of(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| *known == name) else {
        return vec![format!(
            "{name} is not in the table of xtask/src/layering.rs; say there what it may use"
        )];
    };
    dependencies(package).filter_map(|dependency| fault_of(name, allowed, dependency)).collect()
}

/// Returns the names of the crates that a package depends on; original names, even if the manifest renames them.
fn dependencies(package: &Value) -> impl Iterator<Item = &str> {
    let all = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter(|one| one["kind"] != "dev").filter_map(|one| one["name"].as_str())
}

fn fault_of(name: &str, allowed: &[&str], dependency: &str) -> Option<String> {
    let is_ours = ARROWS.iter().any(|(known, _)| *known == dependency);
    if is_ours && !allowed.contains(&dependency) {
        let may = if allowed.is_empty() { "none of ours".to_owned() } else { allowed.join(", ") };
        return Some(format!("{name} must not use {dependency}; it may use {may}"));
    }
    let (_, users) = GUARDED.iter().find(|(guarded, _)| *guarded == dependency)?;
    (!users.contains(&name))
        .then(|| format!("{name} must not use {dependency}; only {} may", users.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn one(name: &str, dependency: &str, kind: Option<&str>) -> Vec<String> {
        let dependencies = json!([{ "name": dependency, "kind": kind, "rename": "innocent" }]);
        faults(&json!({ "packages": [{ "name": name, "dependencies": dependencies }] }))
    }

    #[test]
    fn arrows_of_the_drawing_pass() {
        for (name, dependency) in [
            ("latchkey-store-sqlite", "latchkey-store"),
            ("latchkey-service", "latchkey-store"),
            ("latchkey-http", "latchkey-service"),
            ("latchkey", "latchkey-store-sqlite"),
            ("latchkey-store-sqlite", "rusqlite"),
            ("latchkey-testkit", "reqwest"),
            ("latchkey-domain", "serde"),
        ] {
            assert_eq!(one(name, dependency, None), Vec::<String>::new());
        }
    }

    #[test]
    fn other_arrows_are_named() {
        for (name, dependency) in [
            ("latchkey-domain", "latchkey-store"),
            ("latchkey-service", "latchkey-store-sqlite"),
            ("latchkey-http", "latchkey-store"),
            ("latchkey", "latchkey-testkit"),
            ("latchkey-testkit", "latchkey"),
            ("latchkey-service", "rusqlite"),
            ("latchkey-service", "axum"),
            ("latchkey-http", "reqwest"),
            ("latchkey-store-sqlite", "tokio-postgres"),
        ] {
            let faults = one(name, dependency, None);
            assert!(faults.len() == 1 && faults[0].starts_with(&format!("{name} must not use {dependency}")));
            assert_eq!(one(name, dependency, Some("build")).len(), 1);
        }
    }

    #[test]
    fn development_dependencies_may_be_wider() {
        assert_eq!(one("latchkey", "latchkey-testkit", Some("dev")), Vec::<String>::new());
    }

    #[test]
    fn an_unknown_crate_must_be_added_to_the_table() {
        assert!(one("latchkey-new", "serde", None)[0].contains("not in the table"));
        assert!(!faults(&json!({})).is_empty());
    }

    #[test]
    fn the_arrows_have_no_circle() {
        for (index, (name, allowed)) in ARROWS.iter().enumerate() {
            let below = &ARROWS[..index];
            let is_below = |one: &&str| below.iter().any(|(known, _)| known == one);
            assert!(allowed.iter().all(is_below), "{name} points up");
        }
    }
}
