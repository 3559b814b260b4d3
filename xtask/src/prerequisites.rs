//! What tests need beyond Rust, and how it is installed where it is missing: packages of Node by
//! npm, PostgreSQL, a pooler, Chromium and Firefox by the package manager of Debian.

use std::path::Path;

use crate::step::{Outcome, run as command, succeeds};

/// The folders with a `package-lock.json` whose packages tests use.
const NODE_PACKAGES: &[&str] = &[".", "crates/server/tests/oidc", "crates/server/tests/smtp"];

/// Something that tests need.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prerequisite {
    /// The packages of every folder of [`NODE_PACKAGES`].
    NodePackages,
    /// The server programs of PostgreSQL, for a cluster of its own per run.
    Postgresql,
    /// A pooler, for the proof that the engine is safe behind one.
    Pgbouncer,
    /// A browser for the pages.
    Chromium,
    /// A second browser of another make, for the client.
    Firefox,
}

impl Prerequisite {
    const ALL: [Self; 5] =
        [Self::NodePackages, Self::Postgresql, Self::Pgbouncer, Self::Chromium, Self::Firefox];

    /// The name of the step, and the argument of `cargo xtask prepare`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::NodePackages => "node",
            Self::Postgresql => "postgresql",
            Self::Pgbouncer => "pgbouncer",
            Self::Chromium => "chromium",
            Self::Firefox => "firefox-esr",
        }
    }
}

/// `cargo xtask prepare [name …]`; without a name everything.
pub(crate) fn run(names: &[String]) -> Outcome {
    if let Some(unknown) = names.iter().find(|name| find(name).is_none()) {
        let known = Prerequisite::ALL.map(Prerequisite::name).join(", ");
        return Err(format!("there is nothing called {unknown:?}; there is {known}"));
    }
    let is_wanted = |one: &Prerequisite| names.is_empty() || names.iter().any(|name| name == one.name());
    Prerequisite::ALL.into_iter().filter(is_wanted).try_for_each(ensure)
}

/// Makes sure that it is there.
pub(crate) fn ensure(prerequisite: Prerequisite) -> Outcome {
    match prerequisite {
        Prerequisite::NodePackages => {
            NODE_PACKAGES.iter().try_for_each(|folder| install_node_packages(folder))
        }
        Prerequisite::Postgresql => ensure_debian_package("postgresql", postgresql_is_there),
        Prerequisite::Pgbouncer => ensure_debian_package("pgbouncer", || succeeds("pgbouncer --version")),
        Prerequisite::Chromium => ensure_debian_package("chromium", || succeeds("chromium --version")),
        Prerequisite::Firefox => ensure_debian_package("firefox-esr", || succeeds("firefox-esr --version")),
    }
}

fn find(name: &str) -> Option<Prerequisite> {
    Prerequisite::ALL.into_iter().find(|one| one.name() == name)
}

/// Installs exactly what the lock file says, unless it is there already.
fn install_node_packages(folder: &str) -> Outcome {
    // npm writes this file last, so it is older than the lock file where something changed since.
    let modified = |file: &str| Path::new(folder).join(file).metadata().and_then(|data| data.modified()).ok();
    let installed = modified("node_modules/.package-lock.json");
    if installed.is_some() && installed >= modified("package-lock.json") {
        return Ok(());
    }
    if !succeeds("npm --version") {
        return Err(format!("{folder} needs npm, which is not installed; install Node.js 20 or newer"));
    }
    command(&format!("npm ci --no-audit --no-fund --prefix {folder}"))
}

/// Debian keeps the server programs in a folder per version, not in the path.
fn postgresql_is_there() -> bool {
    let versions = Path::new("/usr/lib/postgresql").read_dir();
    let has_server = |version: std::fs::DirEntry| version.path().join("bin/postgres").exists();
    succeeds("postgres --version") || versions.is_ok_and(|mut all| all.any(|one| one.is_ok_and(has_server)))
}

fn ensure_debian_package(package: &str, is_there: impl Fn() -> bool) -> Outcome {
    if is_there() {
        return Ok(());
    }
    let mend = format!("install {package} by hand, so that it is found");
    if !succeeds("apt-get --version") {
        return Err(format!("{package} is missing and this is no Debian; {mend}"));
    }
    let install = format!("apt-get install --yes --no-install-recommends {package}");
    if command(&install).is_err() {
        // An index that is out of date is the usual reason; a missing right to install the other.
        let _ = command("apt-get update");
        command(&install).map_err(|error| format!("{error}; {mend} (it needs the rights of root)"))?;
    }
    if is_there() { Ok(()) } else { Err(format!("{package} is installed and still not found; {mend}")) }
}
