//! `cargo xtask drill failover|litestream`: runs drills of operational failures with the real binary. A drill is a test
//! program in `crates/server/tests/drill`, excluded from normal test runs.

use crate::prerequisites::{self, Prerequisite};
use crate::step::{Outcome, run as command, step};

/// Names of the drills in `crates/server/tests/drill`, each with what it needs beyond Rust.
const DRILLS: &[(&str, Prerequisite)] =
    &[("failover", Prerequisite::Postgresql), ("litestream", Prerequisite::Litestream)];

/// Runs the named drills, or all of them.
pub(crate) fn run(names: &[String]) -> Outcome {
    if let Some(unknown) = names.iter().find(|name| DRILLS.iter().all(|(known, _)| known != name)) {
        let known: Vec<_> = DRILLS.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no drill called {unknown:?}; there is {}", known.join(", ")));
    }
    let is_wanted = |(drill, _): &&(&str, _)| names.is_empty() || names.iter().any(|name| name == drill);
    DRILLS.iter().filter(is_wanted).try_for_each(|(drill, needs)| {
        step(needs.name(), || prerequisites::ensure(*needs))?;
        step(drill, || {
            command(&format!("cargo test -p latchkey --locked --test drill {drill}:: -- --nocapture"))
        })
    })
}
