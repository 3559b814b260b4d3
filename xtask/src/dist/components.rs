//! The crates that a binary contains, and their list in the format `CycloneDX` 1.5.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::target::{Target, text_of};
use super::{Release, stage};
use crate::step::{Outcome, output_of};

/// The packages of the binary: `cargo metadata` of those that it is linked from.
pub(super) struct Packages {
    /// By package id.
    pub(super) by_id: BTreeMap<String, Value>,
    /// Direct dependencies, by package id.
    edges: BTreeMap<String, BTreeSet<String>>,
    root: String,
}

impl Packages {
    /// Reads the normal dependencies of `latchkey` on a target.
    pub(super) fn of(target: &Target) -> Result<Self, String> {
        let line = format!("cargo metadata --locked --format-version 1 --filter-platform {}", target.triple);
        let metadata: Value =
            serde_json::from_slice(&output_of(&line)?).map_err(|error| format!("cargo metadata: {error}"))?;
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let edges: BTreeMap<_, _> = list(&metadata["resolve"]["nodes"])
            .iter()
            .map(|node| {
                (
                    text(&node["id"]),
                    list(&node["deps"])
                        .iter()
                        .filter(|dep| is_normal(dep))
                        .map(|dep| text(&dep["pkg"]))
                        .collect(),
                )
            })
            .collect();
        let all = list(&metadata["packages"]);
        let root =
            all.iter().find(|package| package["name"] == "latchkey").map(|package| text(&package["id"]));
        let root = root.ok_or("cargo metadata names no package latchkey")?;
        let mut packages = Self { by_id: BTreeMap::new(), edges, root };
        let reached = packages.reached();
        packages.by_id = all
            .into_iter()
            .map(|package| (text(&package["id"]), package))
            .filter(|(id, _)| reached.contains(id))
            .collect();
        Ok(packages)
    }

    /// Returns the ids of all packages that the binary is linked from.
    fn reached(&self) -> BTreeSet<String> {
        let mut reached = BTreeSet::new();
        let mut next = vec![self.root.clone()];
        while let Some(id) = next.pop() {
            if reached.insert(id.clone()) {
                next.extend(self.edges.get(&id).into_iter().flatten().cloned());
            }
        }
        reached
    }
}

/// True for a dependency whose code is linked, other than those of build scripts and tests.
fn is_normal(dependency: &Value) -> bool {
    let kinds = dependency["dep_kinds"].as_array().map(Vec::as_slice).unwrap_or_default();
    kinds.iter().any(|kind| kind["kind"].is_null())
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Writes the list of components.
pub(super) fn write(release: &Release, out: &Path) -> Outcome {
    let packages = Packages::of(&release.target)?;
    let checksums = checksums(&std::fs::read_to_string("Cargo.lock").map_err(|error| error.to_string())?);
    let root = &packages.by_id[&packages.root];
    let libraries = packages.by_id.values().filter(|package| package["id"] != root["id"]);
    let dependencies = packages.by_id.keys().map(|id| {
        let on = packages.edges.get(id).into_iter().flatten().map(|id| reference(&packages.by_id[id]));
        json!({"ref": reference(&packages.by_id[id]), "dependsOn": on.collect::<BTreeSet<_>>()})
    });
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": text_of(&format!("date --utc --date=@{} +%FT%TZ", release.epoch))?,
            "component": component(root, "application", &checksums),
            "properties": [{"name": "cargo:target", "value": release.target.triple}],
        },
        "components": libraries.map(|package| component(package, "library", &checksums)).collect::<Vec<_>>(),
        "dependencies": dependencies.collect::<Vec<_>>(),
    });
    let name = format!("latchkey-{}-{}.cdx.json", release.version, release.target.triple);
    let mut text = serde_json::to_string_pretty(&document).map_err(|error| error.to_string())?;
    text.push('\n');
    stage::write(&out.join(name), text.as_bytes())
}

fn component(package: &Value, kind: &str, checksums: &BTreeMap<(String, String), String>) -> Value {
    let (name, version) = (text(&package["name"]), text(&package["version"]));
    let mut component = Map::new();
    component.insert("type".to_owned(), kind.into());
    component.insert("bom-ref".to_owned(), reference(package).into());
    component.insert("name".to_owned(), name.clone().into());
    component.insert("version".to_owned(), version.clone().into());
    component.insert("purl".to_owned(), reference(package).into());
    if let Some(about) = package["description"].as_str() {
        component.insert("description".to_owned(), about.trim().into());
    }
    if let Some(license) = package["license"].as_str() {
        // Cargo also takes the older form with a slash.
        component.insert("licenses".to_owned(), json!([{"expression": license.replace('/', " OR ")}]));
    }
    if let Some(checksum) = checksums.get(&(name, version)) {
        component.insert("hashes".to_owned(), json!([{"alg": "SHA-256", "content": checksum}]));
    }
    component.into()
}

/// Returns the package URL, which is also the reference within the document.
fn reference(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", text(&package["name"]), text(&package["version"]))
}

/// Reads the checksums of `Cargo.lock` by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |block: &str, key: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(&format!("{key} = \"")))?;
        line.strip_suffix('"').map(ToOwned::to_owned)
    };
    let entry =
        |block: &str| Some(((value(block, "name")?, value(block, "version")?), value(block, "checksum")?));
    lock.split("[[package]]").filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_lock_file() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"b\"\nversion = \
                    \"2.0.0\"\nsource = \"registry\"\nchecksum = \"ab12\"\n";
        let found = checksums(lock);
        assert_eq!(found.len(), 1);
        assert_eq!(found[&("b".to_owned(), "2.0.0".to_owned())], "ab12");
    }

    #[test]
    fn crates_of_build_scripts_and_tests_are_not_linked() {
        let of = |kinds: Value| is_normal(&json!({"dep_kinds": kinds}));
        assert!(of(json!([{"kind": null}])) && of(json!([{"kind": "build"}, {"kind": null}])));
        assert!(!of(json!([{"kind": "build"}])) && !of(json!([{"kind": "dev"}])));
    }
}
