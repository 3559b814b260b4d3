//! `cargo xtask test`: all tests of the workspace, after what they need is there.

use crate::prerequisites::{self, Prerequisite};
use crate::step::{Outcome, run as command, step};

/// What the tests need beyond Rust. A suite that starts to need something adds it here.
const NEEDED: &[Prerequisite] =
    &[Prerequisite::NodePackages, Prerequisite::Postgresql, Prerequisite::Pgbouncer, Prerequisite::Chromium];

/// Arguments go on to `cargo test`.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    for prerequisite in NEEDED {
        step(prerequisite.name(), || prerequisites::ensure(*prerequisite))?;
    }
    let line = ["cargo", "test", "--workspace", "--locked"].map(str::to_owned).to_vec();
    command(&[line, arguments.to_vec()].concat().join(" "))
}
