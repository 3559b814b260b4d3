//! The log of a process: to standard error, as text or JSON lines. What may stand in them is decided where they are
//! written.
//!
//! Every request makes a line, so this crate is optimised where the rest of the binary's own code is not: ADR 0019.

mod lines;

use std::io::IsTerminal;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

pub use self::lines::LogThread;

/// The form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

/// Sets up the log of this process. `directives` are levels, and levels by module, separated by commas; where they cannot
/// be read, `info` holds. The log is written until what this answers is dropped.
///
/// # Panics
///
/// A process that has a log already gets no second one.
pub fn start(format: LogFormat, directives: &str) -> std::io::Result<LogThread> {
    let (lines, thread) = lines::start(std::io::stderr())?;
    let default = || Targets::new().with_default(LevelFilter::INFO);
    let log = registry().with(directives.parse().unwrap_or_else(|_| default()));
    let lines = fmt::layer().with_writer(lines);
    match format {
        LogFormat::Json => log.with(lines.json().flatten_event(true)).init(),
        LogFormat::Text => log.with(lines.with_ansi(std::io::stderr().is_terminal())).init(),
    }
    Ok(thread)
}
