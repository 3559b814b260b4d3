//! `latchkey config …`

use std::process::ExitCode;

use crate::settings::{self, DEFAULT_TOML, Settings, SettingsError, Sources};

pub(super) fn check(sources: Result<Sources, SettingsError>) -> ExitCode {
    let report = settings::check(sources);
    println!("{}", report.text.trim_end());
    if report.is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

pub(super) fn print(settings: &Settings) {
    print!("{}", settings.to_toml());
}

pub(super) fn print_defaults() {
    print!("{DEFAULT_TOML}");
}
