//! Command `latchkey redirects test URL`: tests a redirect target against the list of allowed ones.

use std::process::ExitCode;

use serde_json::json;

use super::{CommandError, json};
use crate::cli::RedirectsCommand;
use crate::wiring::Assembly;

pub(super) fn run(assembly: &Assembly, command: RedirectsCommand) -> Result<ExitCode, CommandError> {
    let RedirectsCommand::Test { url, output } = command;
    let verdict =
        assembly.service.settings().redirects.check(&url).map(|allowed| allowed.as_str().to_owned());
    let code = if verdict.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    match verdict {
        Ok(url) if output.json => json::print(&json!({"allowed": true, "url": url}))?,
        Err(refusal) if output.json => {
            json::print(&json!({"allowed": false, "url": url, "reason": refusal.to_string()}))?;
        }
        Ok(url) => println!("allowed: {url}"),
        Err(refusal) => println!("refused: {refusal}"),
    }
    Ok(code)
}
