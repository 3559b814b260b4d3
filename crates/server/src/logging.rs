//! The log of this process, panics included. Its content is decided where it is written.

use latchkey_http::error::escape_control;
pub use latchkey_log::LogThread;

use crate::settings::LogSettings;

/// The filter of modules that `log.level` does not name: the HTTP/2 library warns of every connection that misbehaves,
/// so a flood of those would flood the log.
const DEFAULT_FILTER: &str = "h2=error";

/// Sets up the log of this process, panics included. It is written until the returned thread is dropped.
pub fn start(settings: &LogSettings) -> std::io::Result<LogThread> {
    let thread = latchkey_log::start(settings.format, &format!("{DEFAULT_FILTER},{}", settings.level))?;
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let text = panic.payload_as_str().unwrap_or("no text");
        tracing::error!(place, "panic: {}", escape_control(text));
    }));
    Ok(thread)
}
