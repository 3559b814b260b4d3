//! `cargo xtask test`: installs the prerequisites and runs all tests of the workspace. Also `cargo xtask client` and
//! `cargo xtask pages`.

use crate::prerequisites::{self, Prerequisite};
use crate::step::{Outcome, run as command, step};

/// Prerequisites that are installed before the tests run.
const NEEDED: &[Prerequisite] = &[
    Prerequisite::NodePackages,
    Prerequisite::Postgresql,
    Prerequisite::Pgbouncer,
    Prerequisite::Oathtool,
    Prerequisite::Chromium,
    Prerequisite::Firefox,
    Prerequisite::Prometheus,
];

/// Commands for the checks and tests of the TypeScript client. The first builds the binary that the tests start.
const CLIENT: &[&str] = &[
    "cargo build --locked -p latchkey",
    "npm run --silent check --workspace @latchkey/client",
    "npm run --silent test --workspace @latchkey/client",
];

/// Commands for the scripts of the pages, and for the tests of pages and console in a browser.
const PAGES: &[&str] = &[
    "cargo build --locked -p latchkey",
    "npm run --silent check --workspace latchkey-pages-browser",
    "npm run --silent test --workspace latchkey-pages-browser",
];

/// Runs all tests. With arguments, it passes them to `cargo test` and skips the tests of the TypeScript client and of
/// the pages in a browser.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    for prerequisite in NEEDED {
        step(prerequisite.name(), || prerequisites::ensure(*prerequisite))?;
    }
    let line = ["cargo", "test", "--workspace", "--locked"].map(str::to_owned).to_vec();
    command(&[line, arguments.to_vec()].concat().join(" "))?;
    if !arguments.is_empty() {
        return Ok(());
    }
    step("client", || run_all(CLIENT))?;
    step("pages", || run_all(PAGES))
}

/// Runs `cargo xtask client`: only the checks and tests of the TypeScript client.
pub(crate) fn run_client(_: &[String]) -> Outcome {
    for prerequisite in [Prerequisite::NodePackages, Prerequisite::Chromium, Prerequisite::Firefox] {
        prerequisites::ensure(prerequisite)?;
    }
    run_all(CLIENT)
}

/// Runs `cargo xtask pages`: only the tests of pages and console in a browser.
pub(crate) fn run_pages(_: &[String]) -> Outcome {
    for prerequisite in [Prerequisite::NodePackages, Prerequisite::Postgresql, Prerequisite::Chromium] {
        prerequisites::ensure(prerequisite)?;
    }
    run_all(PAGES)
}

fn run_all(lines: &[&str]) -> Outcome {
    lines.iter().try_for_each(|line| command(line))
}
