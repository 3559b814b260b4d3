//! Entry point of the binary `latchkey`.

use std::process::ExitCode;

use clap::FromArgMatches;
use latchkey::cli::{Cli, definition};
use latchkey::commands;

#[expect(clippy::disallowed_methods, reason = "the one place that reads the process environment")]
fn main() -> ExitCode {
    if rustls::crypto::aws_lc_rs::default_provider().install_default().is_err() {
        eprintln!("latchkey: the cryptography provider cannot be installed");
        return ExitCode::FAILURE;
    }
    let parsed = Cli::from_arg_matches_mut(&mut definition().get_matches());
    let (arguments, command) = parsed.unwrap_or_else(|error| error.exit()).into_parts();
    commands::run(arguments, command, std::env::vars_os())
}
