//! Log of a process on standard error, as text or JSON lines. The callers of `tracing` are responsible for the content.
//!
//! Every request logs a line, so this crate is optimised for speed, unlike the other crates of the binary (ADR 0019).

mod lines;
pub mod traces;

use std::io::IsTerminal;

use tracing::Subscriber;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::{DefaultFields, Format};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{fmt, registry};

use self::lines::Lines;
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
    let has_colours = std::io::stderr().is_terminal();
    // Without traces one filter holds for all layers. It disables call sites for good, which filters of layers do not.
    match (format, traces) {
        (LogFormat::Json, None) => {
            registry().with(levels).with(layer(lines).json().flatten_event(true)).init();
        }
        (LogFormat::Text, None) => registry().with(levels).with(layer(lines).with_ansi(has_colours)).init(),
        (LogFormat::Json, Some(traces)) => {
            let lines = layer(lines).json().flatten_event(true).with_filter(levels);
            registry().with(lines).with(traces.into_layer()).init();
        }
        (LogFormat::Text, Some(traces)) => {
            let lines = layer(lines).with_ansi(has_colours).with_filter(levels);
            registry().with(lines).with(traces.into_layer()).init();
        }
    }
    Ok(thread)
}

fn layer<S>(lines: Lines) -> fmt::Layer<S, DefaultFields, Format, Lines>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fmt::layer().with_writer(lines)
}
