//! Command `latchkey document`: generates a file of `docs/` and prints it. `cargo xtask generated` compares the output
//! with the committed file.

use latchkey_domain::mail_kind::MailKind;

use crate::cli::DocumentCommand;
use crate::settings::DEFAULT_TOML;

pub(super) fn print(document: &DocumentCommand) {
    match document {
        DocumentCommand::Openapi => print!("{}", latchkey_http::openapi::document()),
        DocumentCommand::Errors => print!("{}", latchkey_http::openapi::errors_markdown()),
        DocumentCommand::Mails => print!("{}", mails_markdown()),
        DocumentCommand::Configuration => print!("{}", configuration_markdown()),
    }
}

fn mails_markdown() -> String {
    let head = "# Mails\n\n<!-- Generated from `crates/domain/src/mail_kind.rs` by `cargo xtask generated --write`. -->\n\n\
        Every kind of mail. [operations.md](operations.md#mail) describes delivery, and texts of your own.\n\n\
        | Mail | Purpose |\n|---|---|\n";
    let rows = MailKind::ALL.iter().map(|kind| format!("| `{}` | {} |\n", kind.as_str(), kind.about()));
    head.to_owned() + &rows.collect::<String>()
}

fn configuration_markdown() -> String {
    format!(
        "# Configuration\n\n<!-- Generated from the items of the settings by `cargo xtask generated --write`. \
         -->\n\nEvery setting with its meaning and default. `latchkey config print` shows what is in force and where each \
         value comes from; `latchkey config check` names everything that is wrong.\n\n```toml\n{}```\n",
        *DEFAULT_TOML
    )
}
