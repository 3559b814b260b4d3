//! Section `log`: format and level of the log.

pub use latchkey_log::LogFormat;
use latchkey_settings::{Kind, Reader, settings};

/// Log levels, from the fewest lines to the most.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

settings! {
    /// Section `log`: format and level of the log.
    #[derive(Debug)]
    pub struct LogSettings {
        /// Log format: "text" for people, or "json" for machines, with one object per line.
        "log.format" => format: LogFormat [Kind::Choice(FORMATS)] | read_format = "text";
        /// Log level: off, error, warn, info, debug or trace. Levels of single modules may follow, such as
        /// "info,latchkey_http=debug". No level logs passwords, codes, tokens, cookies or email addresses.
        "log.level" => level: String | read_level = "info";
    }
}

/// Values of `log.format`.
const FORMATS: &[&str] = &["text", "json"];

/// Parses a value of `log.format`.
pub(super) fn parse_format(text: &str) -> Option<LogFormat> {
    FORMATS
        .iter()
        .zip([LogFormat::Text, LogFormat::Json])
        .find(|(word, _)| **word == text)
        .map(|(_, format)| format)
}

fn read_format(reader: &mut Reader<'_>, key: &'static str) -> LogFormat {
    parse_format(reader.text(key)).unwrap_or(LogFormat::Text)
}

fn read_level(reader: &mut Reader<'_>, key: &'static str) -> String {
    reader.parse(key, parse_level).unwrap_or_else(|| "info".to_owned())
}

/// Parses `log.level`. `tracing` would take a misspelt level for the name of a module and log nothing, so unknown
/// levels are refused here.
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
