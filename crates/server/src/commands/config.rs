//! Commands `latchkey config check` and `latchkey config print`.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::json;
use crate::cli::Output;
use crate::preflight::{self, Findings};
use crate::settings::{DEFAULT_TOML, Problem, Settings, SettingsError, Sources, StorageUrl};
use crate::{storage, wiring};

/// Prints all problems of the settings and of the files, address and database that they name. The exit code is success
/// only if a start would succeed.
pub(super) async fn check(
    sources: Result<Sources, SettingsError>,
    output: Output,
) -> std::io::Result<ExitCode> {
    let (settings, mut problems) = match sources {
        Ok(sources) => {
            let (settings, problems) = Settings::read(sources);
            (Some(settings), problems)
        }
        Err(error) => (None, error.problems().to_vec()),
    };
    let mut findings = match &settings {
        Some(settings) => preflight::rehearse(settings, &problems).await,
        None => Findings::default(),
    };
    problems.append(&mut findings.problems);
    let warnings = settings.as_ref().map(Settings::warnings).unwrap_or_default();
    findings.warnings.splice(0..0, warnings);
    let good = settings.filter(|_| problems.is_empty());
    let code = if good.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if output.json {
        json::print(&report(&problems, &findings))?;
        return Ok(code);
    }
    match good {
        Some(settings) => println!("{}", good_news(&settings)),
        None => println!("{}", SettingsError::from(problems)),
    }
    for warning in findings.warnings {
        println!("- warning: {warning}");
    }
    for note in findings.notes {
        println!("- note: {note}");
    }
    Ok(code)
}

fn report(problems: &[Problem], findings: &Findings) -> Value {
    let problem = |one: &Problem| json!({"key": one.key(), "message": one.to_string(), "mend": one.remedy()});
    json!({
        "good": problems.is_empty(),
        "problems": problems.iter().map(problem).collect::<Vec<_>>(),
        "warnings": findings.warnings,
        "notes": findings.notes,
    })
}

fn good_news(settings: &Settings) -> String {
    let server = &settings.server;
    format!("The settings are good ({}, {}).", server.mode.as_str(), server.public_url)
}

/// Prints the settings in force, including those that an admin changed at run time. If the database cannot be read, a
/// note says so and the configured values are printed.
pub(super) async fn print(mut settings: Settings, output: Output) -> std::io::Result<()> {
    let database = settings.storage.url.shown();
    let is_missing = matches!(&settings.storage.url, StorageUrl::Sqlite(path) if !path.exists());
    let stored = storage::stored_settings(&settings).await;
    let changed = match stored {
        Ok(Some(stored)) => wiring::base_settings(&settings)
            .stored_in_force(&stored)
            .map(Some)
            .map_err(|error| latchkey_http::error::chain_of(&error)),
        Ok(None) => Ok(None),
        Err(reason) => Err(reason),
    };
    let note = match changed {
        Ok(None) if is_missing => {
            format!("There is no database at {database} yet, so an admin has changed nothing.")
        }
        // A database that is there, but was never migrated.
        Ok(None) => {
            format!("The database {database} has no table of settings yet, so an admin has changed nothing.")
        }
        Ok(Some(values)) if values.is_empty() => "An admin has changed nothing at run time.".to_owned(),
        Ok(Some(values)) => {
            settings.show_of_admin(values);
            format!("Values marked \"admin\" were changed at run time and stand in the database {database}.")
        }
        Err(reason) => format!(
            "The database {database} cannot be read, so what an admin changed at run time is not shown: {reason}"
        ),
    };
    let note = latchkey_http::error::escape_control(&note);
    if output.json {
        return json::print(&json!({"note": note, "settings": settings.to_json()}));
    }
    println!("# {note}");
    print!("{}", settings.to_toml());
    Ok(())
}

pub(super) fn print_defaults() {
    print!("{}", *DEFAULT_TOML);
}
