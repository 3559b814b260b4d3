//! `cargo xtask ci`: every check, in the order in which a mistake is found soonest.

use crate::step::{Outcome, run as command, step, succeeds};
use crate::{drill, generated, layering, sizes, tests_task};

/// Stops at the first step that fails.
pub(crate) fn run(_: &[String]) -> Outcome {
    step("format", || command("cargo fmt --all --check"))?;
    step("layering", || layering::run(&[]))?;
    step("sizes", || sizes::run(&[]))?;
    step("clippy", || command("cargo clippy --workspace --all-targets --locked -- -D warnings"))?;
    step("generated files", || generated::run(&[]))?;
    step("dependencies", check_dependencies)?;
    step("tests", || tests_task::run(&[]))?;
    step("drills", || drill::run(&[]))
}

/// Advisories are not among the checks: their database must be fetched, and CI may be offline.
fn check_dependencies() -> Outcome {
    if !succeeds("cargo deny --version") {
        println!("cargo-deny is not installed, so bans, licenses and sources were not checked");
        return Ok(());
    }
    // cargo-deny reads the manifests of every system, more than a build of this one has fetched.
    command("cargo fetch --quiet --locked")?;
    command("cargo deny --offline check bans licenses sources")
}
