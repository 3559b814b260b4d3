//! Entry point of the binary `latchkey`.

use std::process::ExitCode;

use clap::Parser;
use latchkey::cli::Cli;
use latchkey::commands;

#[expect(clippy::disallowed_methods, reason = "the one place that reads the process environment")]
fn main() -> ExitCode {
    if rustls::crypto::aws_lc_rs::default_provider().install_default().is_err() {
        eprintln!("latchkey: the cryptography provider cannot be installed");
        return ExitCode::FAILURE;
    }
    let (arguments, command) = Cli::parse().into_parts();
    commands::run(arguments, command, std::env::vars_os())
}
