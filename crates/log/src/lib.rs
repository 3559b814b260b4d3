//! The log of a process, to standard error, as text or JSON lines. Callers are responsible for the content.
//!
//! Every request logs a line, so this crate is optimised for speed, unlike the binary's other crates: ADR
//! 0019.

mod lines;

use std::io::IsTerminal;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

pub use self::lines::LogThread;

/// Format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Human-readable text.
    Text,
    Json,
}

/// Installs the global subscriber. `directives` are comma-separated levels, also per module; if invalid,
/// `info` applies. The log is written until the returned thread is dropped.
///
/// # Panics
///
/// If a global subscriber is installed already.
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
