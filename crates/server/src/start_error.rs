//! Output of a failed start on standard error, in the format of the log, so that log collectors can parse it.

use std::io::Write;

use latchkey_service::clock::{Clock, SystemClock};
use serde_json::{Value, json};

use crate::commands::CommandError;
use crate::serve::ServeError;
use crate::settings::{LogFormat, Problem, SettingsError, is_key_or_section};
use crate::wiring::WiringError;

/// Writes the error to standard error: as a sentence, or as one JSON line with the level, the message, the key of the
/// setting, and the remedy (field `mend`).
pub fn tell(error: &CommandError, format: LogFormat) {
    let line = match format {
        LogFormat::Text => format!("latchkey: {error}"),
        LogFormat::Json => line_of(error).to_string(),
    };
    // A failed write to standard error cannot be reported anywhere.
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn line_of(error: &CommandError) -> Value {
    let message = error.to_string();
    let (key, remedy) = match error {
        CommandError::Settings(error) => return line_of_settings(error),
        CommandError::Wiring(WiringError::DataFolder(_))
        | CommandError::Serve(ServeError::Wiring(WiringError::DataFolder(_))) => {
            (Some("data.dir"), remedy_of("data.dir", &message))
        }
        _ => match message.split_once(": ").filter(|(key, _)| is_key_or_section(key)) {
            Some((key, sentence)) => (Some(key), remedy_of(key, sentence)),
            None => (None, REMEDY_WITHOUT_KEY.to_owned()),
        },
    };
    json!({
        "timestamp": SystemClock.now(),
        "level": "ERROR",
        "target": env!("CARGO_PKG_NAME"),
        "message": message,
        "key": key,
        "mend": remedy,
    })
}

/// Builds one JSON line with all problems of the settings. `message` joins them, `key` and `mend` are those of the
/// first, and `problems` lists each.
fn line_of_settings(error: &SettingsError) -> Value {
    let problems: Vec<_> = error.problems().iter().map(ToString::to_string).collect();
    let list: Vec<_> = error
        .problems()
        .iter()
        .map(
            |problem| json!({"key": problem.key(), "message": problem.to_string(), "mend": problem.remedy()}),
        )
        .collect();
    json!({
        "timestamp": SystemClock.now(),
        "level": "ERROR",
        "target": env!("CARGO_PKG_NAME"),
        "message": format!("The settings cannot be used: {}", problems.join(" | ")),
        "key": list.first().map(|first| first["key"].clone()),
        "mend": list.first().map(|first| first["mend"].clone()),
        "problems": list,
    })
}

/// Remedy of an error that names no setting.
const REMEDY_WITHOUT_KEY: &str = "correct what the message names, then start again";

fn remedy_of(key: &str, sentence: &str) -> String {
    match key {
        "server.bind" => "stop what listens there, or set server.bind to another address".to_owned(),
        "storage.url" => "make the database reachable and writable, or correct storage.url".to_owned(),
        "data.dir" => "let the service's user write there, or set data.dir to another folder".to_owned(),
        key => Problem::new(key, sentence).remedy(),
    }
}
