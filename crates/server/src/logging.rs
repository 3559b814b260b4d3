//! Log of this process, including panics. The callers of `tracing` are responsible for its content.

use latchkey_http::error::escape_control;
pub use latchkey_log::LogThread;
use latchkey_log::traces::Traces;

use crate::settings::LogSettings;

/// Log levels of dependencies, unless `log.level` names them. `h2` warns of every misbehaving HTTP/2 connection, so an
/// attacker could flood the log.
const DEFAULT_FILTER: &str = "h2=error";

/// Starts the log of this process, including panics. It is written until the returned thread is dropped.
pub fn start(settings: &LogSettings, traces: Option<Traces>) -> std::io::Result<LogThread> {
    let levels = format!("{DEFAULT_FILTER},{}", settings.level);
    let thread = latchkey_log::start(settings.format, &levels, traces)?;
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let text = panic.payload_as_str().unwrap_or("no text");
        tracing::error!(place, "panic: {}", escape_control(text));
    }));
    Ok(thread)
}
