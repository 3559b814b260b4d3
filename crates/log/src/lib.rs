//! Log of a process on standard error, as text or JSON lines. The callers of `tracing` are responsible for the content.
//!
//! Every request logs a line, so this crate is optimised for speed, unlike the other crates of the binary (ADR 0019).

mod fields;
mod lines;
pub mod traces;

use std::io::IsTerminal;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

use self::fields::PlainFields;
pub use self::lines::LogThread;
use self::traces::Traces;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

/// Installs the global subscriber of `tracing`. `directives` are comma-separated levels, also per module, such as
/// `info,latchkey_http=debug`; if they are invalid, `info` applies. The log is written until the returned thread is
/// dropped. Spans are collected if `traces` says where they go.
///
/// # Panics
///
/// If a global subscriber is installed already.
pub fn start(format: LogFormat, directives: &str, traces: Option<Traces>) -> std::io::Result<LogThread> {
    let (lines, thread) = lines::start(std::io::stderr())?;
    let default = || Targets::new().with_default(LevelFilter::INFO);
    let levels = directives.parse::<Targets>().unwrap_or_else(|_| default());
    let levels = levels.with_target(traces::TARGET, LevelFilter::OFF);
    // Without traces one filter holds for all layers. It disables call sites for good, which filters of layers do not.
    macro_rules! install {
        ($lines:expr) => {
            match traces {
                None => registry().with(levels).with($lines).init(),
                Some(traces) => registry().with($lines.with_filter(levels)).with(traces.into_layer()).init(),
            }
        };
    }
    match format {
        LogFormat::Json => install!(fmt::layer().with_writer(lines).json().flatten_event(true)),
        LogFormat::Text if std::io::stderr().is_terminal() => install!(fmt::layer().with_writer(lines)),
        LogFormat::Text => {
            install!(fmt::layer().with_writer(lines).with_ansi(false).fmt_fields(PlainFields));
        }
    }
    Ok(thread)
}
