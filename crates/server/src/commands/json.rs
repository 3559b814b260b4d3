//! JSON documents on standard output, for `--json`.

use std::io::{self, ErrorKind, Write};

use serde_json::Value;

/// Prints a document on one line. A reader that has enough, such as `head`, is no error.
pub(super) fn print(document: &Value) -> io::Result<()> {
    match writeln!(io::stdout(), "{document}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}
