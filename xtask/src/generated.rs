//! `cargo xtask generated`: checks that the generated files in the repository are up to date. `--write` renews them.

use std::fs;

use crate::prerequisites::{self, Prerequisite};
use crate::step::{Outcome, output_of};

/// Commands that print a file, each with the path of the file. A file comes after the files from which it is generated.
const GENERATED: &[(&str, &str)] = &[
    (
        "cargo run --quiet --locked -p latchkey-store-sqlite --example fresh_schema",
        "crates/store-sqlite/src/migrations/fresh.sql",
    ),
    ("cargo run --quiet --locked -p latchkey -- document openapi", "docs/openapi.json"),
    ("cargo run --quiet --locked -p latchkey -- document errors", "docs/errors.md"),
    ("cargo run --quiet --locked -p latchkey -- document mails", "docs/mails.md"),
    ("cargo run --quiet --locked -p latchkey -- document configuration", "docs/configuration.md"),
    ("node clients/typescript/scripts/generate.mjs --print", "clients/typescript/src/generated.ts"),
];

/// Compares every file with the output of its command or, with `--write`, overwrites the file.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let writes = arguments.iter().any(|argument| argument == "--write");
    prerequisites::ensure(Prerequisite::NodePackages)?;
    let mut stale = Vec::new();
    for (command, file) in GENERATED {
        let fresh = output_of(command)?;
        if fs::read(file).is_ok_and(|present| present == fresh) {
            continue;
        }
        if writes {
            fs::write(file, fresh).map_err(|error| format!("{file} cannot be written: {error}"))?;
            println!("renewed {file}");
        } else {
            stale.push(*file);
        }
    }
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!("{} not what the code makes now; run cargo xtask generated --write", stale.join(", ")))
}
