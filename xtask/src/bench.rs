//! `cargo xtask bench`: builds the service and its benchmark for release, runs it, and writes `docs/benchmarks.md`.

use crate::step::{Outcome, run, step};

/// Builds, runs, writes. `--quick` does less of everything and writes nothing; what else is said goes to the benchmark.
pub(crate) fn run_bench(arguments: &[String]) -> Outcome {
    step("build", || run("cargo build --release --package latchkey --package latchkey-bench"))?;
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    let report = if is_quick { "" } else { " --report docs/benchmarks.md" };
    println!("{}", time_needed(is_quick));
    let mut line = format!("target/release/latchkey-bench run{report}");
    for argument in arguments {
        line.push(' ');
        line.push_str(argument);
    }
    step("bench", || run(&line))
}

/// What is said before it begins. Each measurement is bounded in time, and the benchmark fails when the sum is too much.
fn time_needed(is_quick: bool) -> String {
    let minutes = if is_quick { 5 } else { 20 };
    format!("This takes about {minutes} minutes, and longer on a busy machine; more than 40 are a failure.")
}
