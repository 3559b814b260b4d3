//! `cargo xtask test`: installs the prerequisites and runs all tests of the workspace. Also `cargo xtask client`.

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
];

/// Commands for the checks and tests of the TypeScript client. The first builds the binary that the tests start.
const CLIENT: &[&str] = &[
    "cargo build --locked -p latchkey",
    "npm run --silent check --workspace @latchkey/client",
    "npm run --silent test --workspace @latchkey/client",
];

/// Runs all tests. With arguments, it passes them to `cargo test` and skips the TypeScript client.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    for prerequisite in NEEDED {
        step(prerequisite.name(), || prerequisites::ensure(*prerequisite))?;
    }
    let line = ["cargo", "test", "--workspace", "--locked"].map(str::to_owned).to_vec();
    command(&[line, arguments.to_vec()].concat().join(" "))?;
    if arguments.is_empty() { step("client", test_client) } else { Ok(()) }
}

/// Runs `cargo xtask client`: only the checks and tests of the TypeScript client.
pub(crate) fn run_client(_: &[String]) -> Outcome {
    for prerequisite in [Prerequisite::NodePackages, Prerequisite::Chromium, Prerequisite::Firefox] {
        prerequisites::ensure(prerequisite)?;
    }
    test_client()
}

fn test_client() -> Outcome {
    CLIENT.iter().try_for_each(|line| command(line))
}
