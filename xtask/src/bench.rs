//! `cargo xtask bench`: builds the service and its benchmark for release, runs it, and writes `docs/benchmarks.md`.

use crate::step::{Outcome, run, step};

/// Builds, runs, writes. `--quick` does less of everything and writes nothing; what else is said goes to the benchmark.
pub(crate) fn run_bench(arguments: &[String]) -> Outcome {
    step("build", || run("cargo build --release --package latchkey --package latchkey-bench"))?;
    let is_quick = arguments.iter().any(|argument| argument == "--quick");
    let report = if is_quick { "" } else { " --report docs/benchmarks.md" };
    let mut line = format!("target/release/latchkey-bench run{report}");
    for argument in arguments {
        line.push(' ');
        line.push_str(argument);
    }
    step("bench", || run(&line))
}
