//! `cargo xtask test`: all tests of the workspace, after what they need is there.

use crate::prerequisites::{self, Prerequisite};
use crate::step::{Outcome, run as command, step};

/// What the tests need beyond Rust. A suite that starts to need something adds it here.
const NEEDED: &[Prerequisite] = &[
    Prerequisite::NodePackages,
    Prerequisite::Postgresql,
    Prerequisite::Pgbouncer,
    Prerequisite::Chromium,
    Prerequisite::Firefox,
];

/// What the client for TypeScript is checked and tested with, against the binary that the first one builds.
const CLIENT: &[&str] = &[
    "cargo build --locked -p latchkey",
    "npm run --silent check --workspace @latchkey/client",
    "npm run --silent test --workspace @latchkey/client",
];

/// Arguments go on to `cargo test`; with some, a choice of tests is wanted, and the client is left out.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    for prerequisite in NEEDED {
        step(prerequisite.name(), || prerequisites::ensure(*prerequisite))?;
    }
    let line = ["cargo", "test", "--workspace", "--locked"].map(str::to_owned).to_vec();
    command(&[line, arguments.to_vec()].concat().join(" "))?;
    if arguments.is_empty() { step("client", test_client) } else { Ok(()) }
}

/// `cargo xtask client`: the client for TypeScript alone.
pub(crate) fn run_client(_: &[String]) -> Outcome {
    for prerequisite in [Prerequisite::NodePackages, Prerequisite::Chromium, Prerequisite::Firefox] {
        prerequisites::ensure(prerequisite)?;
    }
    test_client()
}

fn test_client() -> Outcome {
    CLIENT.iter().try_for_each(|line| command(line))
}
