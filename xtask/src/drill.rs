//! `cargo xtask drill failover`: runs drills of operational failures with the real binary. A drill is a test program in
//! `crates/server/tests/drill`, excluded from normal test runs.

use crate::prerequisites::{self, Prerequisite};
use crate::step::{Outcome, run as command, step};

/// Names of the drills in `crates/server/tests/drill`.
const DRILLS: &[&str] = &["failover"];

/// Runs the named drills, or all of them.
pub(crate) fn run(names: &[String]) -> Outcome {
    if let Some(unknown) = names.iter().find(|name| !DRILLS.contains(&name.as_str())) {
        return Err(format!("there is no drill called {unknown:?}; there is {}", DRILLS.join(", ")));
    }
    step(Prerequisite::Postgresql.name(), || prerequisites::ensure(Prerequisite::Postgresql))?;
    let is_wanted = |drill: &&&str| names.is_empty() || names.iter().any(|name| name == **drill);
    DRILLS.iter().filter(is_wanted).try_for_each(|drill| {
        step(drill, || {
            command(&format!("cargo test -p latchkey --locked --test drill {drill}:: -- --nocapture"))
        })
    })
}
