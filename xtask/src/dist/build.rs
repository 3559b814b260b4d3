//! The static binary, and the facts of the commit that it is built from.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::target::{Target, text_of};
use crate::step::{output_of, run_with, step, succeeds};

/// Version of `cargo-auditable` to install. It writes the list of crates into the binary, where scanners find it.
const AUDITABLE: &str = "0.7.7";
/// Build settings for a quick build of `cargo-auditable`.
const CHEAP: &[(&str, &str)] =
    &[("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"), ("CARGO_PROFILE_RELEASE_LTO", "off")];

/// How the binary is linked: statically, and with packed relocations, which make it 0.9 MB smaller. The C library of Debian 12
/// and later (glibc 2.36) reads them. Random numbers come from the system call. The crate `getrandom` would look the C library's
/// function up by name, which a static binary cannot, and then read `/dev/urandom`, which a container need not have.
const RUST: [&str; 3] = [
    "-Ctarget-feature=+crt-static",
    "-Clink-arg=-Wl,-z,pack-relative-relocs",
    "--cfg=getrandom_backend=\"linux_getrandom\"",
];

/// Flags of `.cargo/config.toml` for aws-lc, which takes no others where they are set.
const AWS_LC_FLAGS: &str = env!("AWS_LC_SYS_CFLAGS");

/// Builds the binary and returns its path.
pub(super) fn build(target: &Target, profile: &str) -> Result<PathBuf, String> {
    target.check_toolchain()?;
    install_auditable()?;
    let Target { triple, .. } = target;
    let root = std::env::current_dir().map_err(|error| error.to_string())?;
    let cargo_home = cargo_home()?;
    let places = [(root.as_path(), "/latchkey"), (cargo_home.as_path(), "/cargo")];
    let rust = places.map(|(path, name)| format!("--remap-path-prefix={}={name}", path.display()));
    let c = places.map(|(path, name)| format!("-ffile-prefix-map={}={name}", path.display()));
    let compiler = target.compiler()?;
    let upper = triple.to_uppercase().replace('-', "_");
    let flags = [RUST.map(ToOwned::to_owned).as_slice(), &rust].concat().join("\u{1f}");
    let variables = [
        ("CARGO_ENCODED_RUSTFLAGS", flags.as_str()),
        ("CARGO_INCREMENTAL", "0"),
        (&format!("CARGO_TARGET_{upper}_LINKER"), compiler),
        (&format!("CC_{}", triple.replace('-', "_")), compiler),
        ("CFLAGS", &c.join(" ")),
        ("LATCHKEY_REVISION", &revision()?),
        ("AWS_LC_SYS_CFLAGS", &format!("{AWS_LC_FLAGS} {}", c.join(" "))),
    ];
    let line =
        format!("cargo auditable build --locked --package latchkey --profile {profile} --target {triple}");
    step("build", || run_with(&line, &[], &variables))?;
    let folder = metadata("target_directory")?;
    let binary = Path::new(&folder).join(triple).join(profile).join("latchkey");
    check_static(&binary)?;
    Ok(binary)
}

/// Refuses a binary that needs a loader, because the image has none.
fn check_static(binary: &Path) -> Result<(), String> {
    let headers = text_of(&format!("readelf --program-headers --wide {}", binary.display()))?;
    if headers.contains("INTERP") {
        return Err(format!("{} is not static: it names an interpreter", binary.display()));
    }
    Ok(())
}

fn install_auditable() -> Result<(), String> {
    if succeeds("cargo auditable --version") {
        return Ok(());
    }
    println!("cargo-auditable is not there; it is built now, once");
    let line = format!("cargo install --locked --quiet --version {AUDITABLE} cargo-auditable");
    run_with(&line, &[], CHEAP)
}

/// Returns the version of the workspace.
pub(super) fn version() -> Result<String, String> {
    let metadata = output_of("cargo metadata --no-deps --format-version 1")?;
    let metadata: Value = serde_json::from_slice(&metadata).map_err(|error| error.to_string())?;
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let latchkey = packages.iter().find(|package| package["name"] == "latchkey");
    latchkey
        .and_then(|package| package["version"].as_str())
        .map(ToOwned::to_owned)
        .ok_or_else(|| "cargo metadata names no package latchkey".to_owned())
}

/// Returns the time that all files of the packages get: `SOURCE_DATE_EPOCH`, or the time of the commit.
pub(super) fn epoch() -> Result<String, String> {
    match variable("SOURCE_DATE_EPOCH") {
        Some(epoch) if epoch.parse::<u64>().is_ok() => Ok(epoch),
        Some(epoch) => Err(format!("SOURCE_DATE_EPOCH is {epoch:?}; give it seconds since 1970")),
        None => text_of("git log -1 --format=%ct")
            .map_err(|error| format!("{error}; outside of a checkout set SOURCE_DATE_EPOCH")),
    }
}

/// Returns the commit that the binary names: `LATCHKEY_REVISION`, or that of the checkout.
pub(super) fn revision() -> Result<String, String> {
    match variable("LATCHKEY_REVISION") {
        Some(revision) => Ok(revision),
        None => text_of("git rev-parse HEAD")
            .map_err(|error| format!("{error}; outside of a checkout set LATCHKEY_REVISION")),
    }
}

/// Returns a text at the top of `cargo metadata`.
fn metadata(key: &str) -> Result<String, String> {
    let metadata = output_of("cargo metadata --no-deps --format-version 1")?;
    let metadata: Value = serde_json::from_slice(&metadata).map_err(|error| error.to_string())?;
    metadata[key].as_str().map(ToOwned::to_owned).ok_or_else(|| format!("cargo metadata names no {key}"))
}

fn cargo_home() -> Result<PathBuf, String> {
    let given = variable("CARGO_HOME").map(PathBuf::from);
    let default = || variable("HOME").map(|home| Path::new(&home).join(".cargo"));
    given.or_else(default).ok_or_else(|| "neither CARGO_HOME nor HOME is set".to_owned())
}

#[expect(clippy::disallowed_methods, reason = "the tasks of the workspace have no settings")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
