//! `cargo xtask model refresh`: model-based test of refresh token rotation over a million random walks, or over one
//! walk that is printed event by event.

use crate::step::{Outcome, run_with, step};

/// Default number of random walks.
const RUNS: &str = "1000000";
const USAGE: &str = "cargo xtask model refresh [--runs NUMBER | --seed NUMBER]";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    let (test, variables) = match words[..] {
        ["refresh"] => ("", [("LATCHKEY_MODEL_RUNS", RUNS)]),
        ["refresh", "--runs", runs] => ("", [("LATCHKEY_MODEL_RUNS", runs)]),
        ["refresh", "--seed", seed] => ("every_promise", [("LATCHKEY_MODEL_SEED", seed)]),
        _ => return Err(USAGE.to_owned()),
    };
    let line = "cargo test -p latchkey-domain --release --locked --test refresh_model -- --nocapture";
    let filter: Vec<_> = (!test.is_empty()).then(|| test.to_owned()).into_iter().collect();
    step("refresh", || run_with(line, &filter, &variables))
}
