//! Log of a process on standard error, as text or JSON lines. The callers of `tracing` are responsible for the content.
//!
//! Every request logs a line, so this crate is optimised for speed, unlike the other crates of the binary (ADR 0019).

mod lines;

use std::io::IsTerminal;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

pub use self::lines::LogThread;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

/// Installs the global subscriber of `tracing`. `directives` are comma-separated levels, also per module, such as
/// `info,latchkey_http=debug`; if they are invalid, `info` applies. The log is written until the returned thread is
/// dropped.
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
