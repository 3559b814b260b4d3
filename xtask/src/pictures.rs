//! `cargo xtask pictures`: builds the binary and takes the pictures of `README.md` of what it shows, light and dark.

use crate::prerequisites::{self, Prerequisite};
use crate::step::{Outcome, run as command};

/// The program that takes them; `latchkey pages preview` writes what they show.
const LINES: [&str; 2] = [
    "cargo build --locked -p latchkey",
    "node crates/pages/tests/browser/pictures.mjs target/debug/latchkey docs/pictures",
];

/// Takes the pictures. Run it after a change that is seen in them, and commit what it writes.
pub(crate) fn run(_: &[String]) -> Outcome {
    for prerequisite in [Prerequisite::NodePackages, Prerequisite::Chromium] {
        prerequisites::ensure(prerequisite)?;
    }
    LINES.iter().try_for_each(|line| command(line))
}
