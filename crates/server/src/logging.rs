//! Logs: to standard error, as text or JSON lines. What may stand in them is decided where they are written.

mod lines;

use std::io::IsTerminal;

use latchkey_http::error::escape_control;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

pub use self::lines::LogThread;
use crate::settings::{LogFormat, LogSettings};

/// What holds unless `log.level` names the same module: the HTTP/2 library warns of every connection that misbehaves,
/// so a flood of those would flood the log.
const QUIET: &str = "h2=error";

/// Sets up the log of this process, panics included. It is written until what this answers is dropped.
pub fn start(settings: &LogSettings) -> std::io::Result<LogThread> {
    let (lines, thread) = lines::start(std::io::stderr())?;
    let default = || Targets::new().with_default(LevelFilter::INFO);
    let log = registry().with(format!("{QUIET},{}", settings.level).parse().unwrap_or_else(|_| default()));
    let lines = fmt::layer().with_writer(lines);
    match settings.format {
        LogFormat::Json => log.with(lines.json().flatten_event(true)).init(),
        LogFormat::Text => log.with(lines.with_ansi(std::io::stderr().is_terminal())).init(),
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let text = panic.payload_as_str().unwrap_or("no text");
        tracing::error!(place, "panic: {}", escape_control(text));
    }));
    Ok(thread)
}
