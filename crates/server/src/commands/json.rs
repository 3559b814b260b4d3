//! JSON documents on standard output, for `--json`.

use serde_json::Value;

/// Prints a document on one line.
pub(super) fn print(document: &Value) -> std::io::Result<()> {
    super::output::write(format!("{document}\n").as_bytes())
}
