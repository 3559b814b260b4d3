//! The table of error codes in Markdown: `docs/errors.md`.

use std::fmt::Write;

use latchkey_domain::reason::Reason;

use crate::error::catalogue;

const HEAD: &str = "# Errors\n\n\
    Generated from the refusals of `crates/service` and `crates/http`; do not edit.\n\n\
    Every refusal of every route is a JSON object `{error, message, statusCode, nextAction?, nextActions?, field?,\n\
    reasons?, requestId}`. `error` is one of the codes below and stable; `message` and `nextAction` are for people and may\n\
    change; `nextActions` repeats `nextAction`. `field` is the key of the body that is wrong, dotted where it is nested\n\
    (`options.emailRedirectTo`), or the parameter; `reasons` says why, in the words of the second table. `requestId` is the\n\
    answer's `X-Request-Id`, under which the service's log knows more. Answers with status 401 carry `WWW-Authenticate`, those with 429 and 503 `Retry-After` in seconds, those\n\
    with 405 `Allow`.\n\n\
    | Code | Status | When | What to do |\n\
    |---|---|---|---|\n";

const REASONS: &str = "\n## Reasons\n\nA closed list. One refusal can have several, such as `WEAK_PASSWORD`.\n\n\
    | Reason | When |\n|---|---|\n";

/// Renders the error catalogue as a Markdown page: a table of error codes (code, status, when, next action), and a
/// table of the `reasons` in error responses. The page ends with a newline.
#[must_use]
pub fn errors_markdown() -> String {
    let mut page = HEAD.to_owned();
    for code in catalogue() {
        let (name, status, when) = (code.name, code.status, cell(code.when));
        let _ = writeln!(page, "| `{name}` | {status} | {when} | {} |", cell(code.next_action)); // cannot fail
    }
    page.push_str(REASONS);
    for reason in Reason::ALL {
        let _ = writeln!(page, "| `{}` | {} |", reason.as_str(), cell(reason.when()));
    }
    page
}

/// Escapes `|`, which would end the table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
