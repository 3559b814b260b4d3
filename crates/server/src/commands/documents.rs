//! The generated documents of `docs/`, printed for the check that they are fresh.

use crate::cli::DocumentCommand;
use crate::settings::DEFAULT_TOML;

pub(super) fn print(document: &DocumentCommand) {
    match document {
        DocumentCommand::Openapi => print!("{}", latchkey_http::openapi::document()),
        DocumentCommand::Errors => print!("{}", latchkey_http::openapi::errors_markdown()),
        DocumentCommand::Configuration => print!("{}", configuration_markdown()),
    }
}

fn configuration_markdown() -> String {
    format!(
        "# Configuration\n\n<!-- Generated from the items of the settings by `cargo xtask generated --write`. \
         -->\n\nEvery setting with its meaning and default. `latchkey config print` shows what is in force and where each \
         value comes from; `latchkey config check` names everything that is wrong.\n\n```toml\n{}```\n",
        *DEFAULT_TOML
    )
}
