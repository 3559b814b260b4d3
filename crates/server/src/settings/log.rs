//! Section `log`.

pub use latchkey_log::LogFormat;

use super::reader::Reader;

/// The levels, from quiet to loud.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Section `log`.
#[derive(Debug)]
pub struct LogSettings {
    /// For people or for machines.
    pub format: LogFormat,
    /// Directives: levels, and levels by module, separated by commas.
    pub level: String,
}

/// Reads the value of `log.format`.
pub(super) fn parse_format(text: &str) -> Option<LogFormat> {
    match text {
        "json" => Some(LogFormat::Json),
        "text" => Some(LogFormat::Text),
        _ => None,
    }
}

impl LogSettings {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let level = reader.parse("log.level", parse_level);
        Self {
            format: parse_format(reader.text("log.format")).unwrap_or(LogFormat::Text),
            level: level.unwrap_or_else(|| "info".to_owned()),
        }
    }
}

/// Stricter than the filter of the log, which takes a misspelt level for the name of a module and
/// then says nothing at all.
fn parse_level(text: &str) -> Result<String, String> {
    let is_directive = |directive: &str| match directive.split_once('=') {
        Some((module, level)) => is_module(module) && LEVELS.contains(&level),
        None => LEVELS.contains(&directive),
    };
    let directives: Vec<_> = text.split(',').map(str::trim).collect();
    if directives.iter().all(|directive| is_directive(directive)) {
        return Ok(directives.join(","));
    }
    Err(format!("wanted one of {}, or such as info,latchkey_http=debug", LEVELS.join(", ")))
}

fn is_module(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_a_level_or_a_module_with_a_level() {
        for text in ["info", "off", "info, latchkey_http=debug", "warn,latchkey::start=trace"] {
            assert!(parse_level(text).is_ok(), "{text}");
        }
        for text in ["inof", "INFO!", "", "info,,debug", "latchkey_http=loud", "=info"] {
            assert!(parse_level(text).is_err(), "{text}");
        }
    }
}
