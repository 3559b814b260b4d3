//! Command `latchkey redirects test URL`: tests a redirect target against the list of allowed ones.

use std::process::ExitCode;

use crate::cli::RedirectsCommand;
use crate::wiring::Assembly;

pub(super) fn run(assembly: &Assembly, command: RedirectsCommand) -> ExitCode {
    let RedirectsCommand::Test { url } = command;
    match assembly.service.settings().redirects.check(&url) {
        Ok(allowed) => {
            println!("allowed: {}", allowed.as_str());
            ExitCode::SUCCESS
        }
        Err(refusal) => {
            println!("refused: {refusal}");
            ExitCode::FAILURE
        }
    }
}
