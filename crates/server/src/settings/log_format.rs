//! Early reading of `log.format`, so that errors in the settings are printed in the configured format even if the
//! settings as a whole cannot be parsed.

use std::ffi::OsString;
use std::path::Path;

use super::log::{LogFormat, parse_format};
use super::source;

/// Key of the setting in the file, and its environment variable.
const KEY: &str = "log.format";
const VARIABLE: &str = "LATCHKEY__LOG__FORMAT";

/// Reads `log.format` from `--set`, the environment and the file, in this order of precedence. Invalid values and
/// unreadable sources are skipped.
#[must_use]
pub fn log_format<'a>(
    config: Option<&Path>,
    environment: &[(OsString, OsString)],
    overrides: impl DoubleEndedIterator<Item = &'a str>,
) -> LogFormat {
    let mut overrides = overrides.rev().filter_map(|text| text.split_once('='));
    let of_command_line =
        overrides.find_map(|(key, value)| if key.trim() == KEY { parse_format(value) } else { None });
    let of_environment = || {
        let value = environment.iter().find(|(name, _)| name == VARIABLE)?.1.to_str()?;
        parse_format(value)
    };
    let of_file = || in_file(&source::read_config_loosely(config)?);
    of_command_line.or_else(of_environment).or_else(of_file).unwrap_or(LogFormat::Text)
}

/// Reads `log.format` from a settings file. If the file is not valid TOML, it is searched line by line, so that an
/// error in another line does not change the format.
fn in_file(text: &str) -> Option<LogFormat> {
    if let Ok(table) = text.parse::<toml::Table>() {
        return parse_format(table.get("log")?.get("format")?.as_str()?);
    }
    let mut section = "";
    text.lines().map(str::trim).find_map(|line| {
        if let Some(header) = line.strip_prefix('[') {
            section = header.split(']').next().unwrap_or_default().trim();
            return None;
        }
        let (key, value) = line.split_once('=')?;
        let is_format = match section {
            "log" => key.trim() == "format",
            "" => key.trim() == KEY,
            _ => false,
        };
        let value = value.split('#').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
        is_format.then(|| parse_format(value)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(environment: &[(&str, &str)], overrides: &[&str]) -> LogFormat {
        let environment: Vec<_> =
            environment.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        log_format(None, &environment, overrides.iter().copied())
    }

    #[test]
    fn the_strongest_source_that_names_a_format_counts() {
        let json = [("LATCHKEY__LOG__FORMAT", "json")];
        assert_eq!(format(&[], &[]), LogFormat::Text);
        assert_eq!(format(&json, &[]), LogFormat::Json);
        assert_eq!(format(&json, &["log.format=text"]), LogFormat::Text);
        assert_eq!(format(&[], &["log.format=text", " log.format=json", "nonsense"]), LogFormat::Json);
        assert_eq!(format(&json, &["log.format=jsno"]), LogFormat::Json);
    }

    #[test]
    fn a_broken_file_still_names_its_format() {
        for text in [
            "[log]\nformat = \"json\"\n",
            "log.format = 'json'",
            "[server\nbind =\n[log] # of the log\nformat = 'json' # for machines\n",
            "= what\nlog.format = \"json\"",
        ] {
            assert_eq!(in_file(text), Some(LogFormat::Json), "{text}");
        }
        for text in ["", "[log]\nformat = 7", "[logs]\nx\nformat = 'json'", "[log]\n<>\nformat = 'jsno'"] {
            assert_eq!(in_file(text), None, "{text}");
        }
    }
}
