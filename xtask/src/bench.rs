//! `cargo xtask bench`: builds the `dist` profile and the benchmark, runs it, and writes `docs/benchmarks.md`.
//! `--against BINARY` compares with another binary instead and writes nothing.

use crate::step::{Outcome, run, run_with, step};

/// Builds and runs the benchmark, and writes its report. `--quick` reduces the run and writes nothing. Other arguments
/// are passed on to the benchmark.
pub(crate) fn run_bench(arguments: &[String]) -> Outcome {
    let says = |flag: &str| arguments.iter().any(|argument| argument.split('=').next() == Some(flag));
    if says("--against") {
        return run_against(arguments, says("--latchkey"));
    }
    step("build", || run("cargo build --profile dist --package latchkey --package latchkey-bench"))?;
    let report = if says("--quick") { "" } else { " --report docs/benchmarks.md" };
    println!("{}", time_needed(says("--quick")));
    let line = format!("target/dist/latchkey-bench run{report}");
    step("bench", || run_with(&line, arguments, &[]))
}

/// Compares two binaries. If the command line names both, only the benchmark itself is built.
fn run_against(arguments: &[String], has_binary: bool) -> Outcome {
    let (profile, also) = if has_binary { ("release", "") } else { ("dist", " --package latchkey") };
    let build = format!("cargo build --profile {profile} --package latchkey-bench{also}");
    step("build", || run(&build))?;
    step("bench", || run_with(&format!("target/{profile}/latchkey-bench against"), arguments, &[]))
}

/// Returns the estimated duration, printed at the start. Each measurement is bounded in time, and the benchmark fails
/// if the total is exceeded.
fn time_needed(is_quick: bool) -> String {
    let minutes = if is_quick { 5 } else { 20 };
    format!("This takes about {minutes} minutes, and longer on a busy machine; more than 40 are a failure.")
}
