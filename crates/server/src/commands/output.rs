//! Standard output of commands.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

/// Error of an output that was not written.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Writes to standard output. A reader that has enough, such as `head`, is no error: the command does its work.
pub(super) fn write(text: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Writes to standard output, for the macros `print` and `println` of the commands. An error is kept for the exit code.
pub(super) fn print(text: Arguments<'_>) {
    if let Err(error) = write(text.to_string().as_bytes()) {
        LOST.get_or_init(|| error);
    }
}

/// Fails if an output was not written.
pub(super) fn check() -> io::Result<()> {
    match LOST.get() {
        None => Ok(()),
        Some(error) => {
            Err(io::Error::new(error.kind(), format!("standard output cannot be written: {error}")))
        }
    }
}
