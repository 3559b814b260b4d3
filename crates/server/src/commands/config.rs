//! `latchkey config …`

use std::process::ExitCode;

use crate::settings::{self, DEFAULT_TOML, Settings, SettingsError, Sources};
use crate::{storage, wiring};

pub(super) fn check(sources: Result<Sources, SettingsError>) -> ExitCode {
    let report = settings::check(sources);
    println!("{}", report.text.trim_end());
    if report.is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints the settings in force. What an admin changed is in the database, which may be out of reach.
pub(super) async fn print(mut settings: Settings) {
    let database = settings.storage.url.shown();
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
        Ok(None) => format!("There is no database at {database} yet, so an admin has changed nothing."),
        Ok(Some(values)) if values.is_empty() => "An admin has changed nothing at run time.".to_owned(),
        Ok(Some(values)) => {
            settings.show_of_admin(values);
            format!("Values marked \"admin\" were changed at run time and stand in the database {database}.")
        }
        Err(reason) => format!(
            "The database {database} cannot be read, so what an admin changed at run time is not shown: {reason}"
        ),
    };
    println!("# {}", latchkey_http::error::escape_control(&note));
    print!("{}", settings.to_toml());
}

pub(super) fn print_defaults() {
    print!("{DEFAULT_TOML}");
}
