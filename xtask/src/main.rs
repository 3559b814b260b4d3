//! Checks of this workspace, one command each. `cargo xtask ci` runs them all. This file lists the commands; each is
//! implemented in a file of its own.

mod alerts;
mod bench;
mod ci;
mod deny;
mod deploy;
mod dist;
mod drill;
mod generated;
mod layering;
mod model;
mod packages;
mod pictures;
mod prerequisites;
#[cfg(test)]
mod profiles;
mod record;
mod sizes;
mod step;
mod tests_task;

use std::process::ExitCode;

use step::Outcome;

/// Command of `cargo xtask`: name, description, function.
type Task = (&'static str, &'static str, fn(&[String]) -> Outcome);

const TASKS: &[Task] = &[
    ("ci", "everything below, in the order of CI", ci::run),
    ("test", "all tests of the workspace, after what they need is there", tests_task::run),
    ("drill", "faults under load: drill failover, drill litestream", drill::run),
    ("model", "refresh rotation in a million seeded histories: model refresh", model::run),
    ("record", "every distinct exchange of the black-box suite: record FILE [--against OLDER]", record::run),
    ("client", "the tests of the TypeScript client alone", tests_task::run_client),
    ("pages", "the tests of pages and console in a browser alone", tests_task::run_pages),
    ("alerts", "the alerts in deploy, each fired by a fault", alerts::run),
    (
        "deny",
        "bans, licenses and sources of dependencies; advisories if LATCHKEY_ADVISORY_DB is set",
        deny::run,
    ),
    ("layering", "which crate may use which", layering::run),
    ("sizes", "files that grew too long", sizes::run),
    ("generated", "whether generated files are fresh; --write renews them", generated::run),
    ("pictures", "takes the pictures of README.md anew: docs/pictures", pictures::run),
    ("deploy", "the files of deploy/, each by its own program", deploy::run_checks),
    (
        "dist",
        "the packages of a release: [--target T] [--out DIR]; --check-reproducible builds twice and compares",
        dist::run,
    ),
    ("packages", "packs the development build and tries the packages: packages [DIR]", packages::run),
    (
        "bench",
        "the benchmark: writes docs/benchmarks.md; --quick does less, --against BINARY compares; neither writes",
        bench::run_bench,
    ),
    (
        "prepare",
        "install what tests need: node, postgresql, pgbouncer, oathtool, browsers, prometheus, readers of packages",
        prerequisites::run,
    ),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let rest: Vec<_> = arguments.collect();
    let Some((_, _, task)) = TASKS.iter().find(|(known, _, _)| *known == name) else {
        print_usage();
        return ExitCode::from(2);
    };
    if let Err(error) = step::enter_root() {
        eprintln!("xtask: {error}");
        return ExitCode::FAILURE;
    }
    match task(&rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print_usage() {
    eprintln!("Usage: cargo xtask <command>\n");
    for (name, meaning, _) in TASKS {
        eprintln!("  {name:<10} {meaning}");
    }
}
