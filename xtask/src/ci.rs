//! `cargo xtask ci`: runs every check, the fastest first.

use crate::step::{Outcome, run as command, step};
use crate::{alerts, deny, deploy, drill, generated, layering, packages, sizes, tests_task};

/// Runs the checks and stops at the first failure. The last output lines say whether advisories were checked.
pub(crate) fn run(_: &[String]) -> Outcome {
    step("format", || command("cargo fmt --all --check"))?;
    step("layering", || layering::run(&[]))?;
    step("sizes", || sizes::run(&[]))?;
    step("clippy", || command("cargo clippy --workspace --all-targets --locked -- -D warnings"))?;
    step("generated files", || generated::run(&[]))?;
    step("dependencies", || deny::run(&[]))?;
    step("alerts", || alerts::run(&[]))?;
    step("files of deploy/", || deploy::run_checks(&[]))?;
    step("packages", || packages::run(&[]))?;
    step("tests", || tests_task::run(&[]))?;
    step("drills", || drill::run(&[]))?;
    println!("{}", deny::closing_lines());
    Ok(())
}
