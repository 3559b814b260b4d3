//! The table of errors for readers: `docs/errors.md`.

use std::fmt::Write;

use crate::error::catalogue;

const HEAD: &str = "# Errors\n\n\
    Generated from the catalogue in `crates/http/src/error/codes.rs`; do not edit.\n\n\
    Every refusal of every route is a JSON object `{error, message, statusCode, nextAction?, nextActions?}`. `error` is one\n\
    of the codes below and stable; `message` and `nextAction` are for people and may change; `nextActions` repeats\n\
    `nextAction`. Answers with status 401 carry `WWW-Authenticate`, those with 429 and 503 `Retry-After` in seconds, those\n\
    with 405 `Allow`.\n\n\
    | Code | Status | When | What to do |\n\
    |---|---|---|---|\n";

/// The catalogue as a Markdown page with a table: code, status, when, next action. Ends with a newline.
#[must_use]
pub fn errors_markdown() -> String {
    let mut page = HEAD.to_owned();
    for code in catalogue() {
        let next_action = code.next_action.unwrap_or("–");
        let (name, status, when) = (code.name, code.status.as_u16(), cell(code.when));
        let _ = writeln!(page, "| `{name}` | {status} | {when} | {} |", cell(next_action)); // a String takes everything
    }
    page
}

/// Text that cannot end its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
