//! `config check`: one answer for people, and whether it is good news.

use super::Settings;
use super::problem::SettingsError;
use super::source::Sources;

/// What `config check` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// The answer, without a line end behind it.
    pub text: String,
    /// Whether the service would take these settings.
    pub is_good: bool,
}

/// Loads the settings and tells the outcome; takes what [`Sources::gather`] gave.
#[must_use]
pub fn check(sources: Result<Sources, SettingsError>) -> CheckReport {
    match sources.and_then(Settings::load) {
        Ok(settings) => CheckReport { text: good_news(&settings), is_good: true },
        Err(error) => CheckReport { text: error.to_string(), is_good: false },
    }
}

fn good_news(settings: &Settings) -> String {
    let mode = settings.server.mode.as_str();
    let mut text = format!("The settings are good ({mode}, {}).", settings.server.public_url);
    for warning in settings.warnings() {
        text.push_str("\n- warning: ");
        text.push_str(&warning);
    }
    text
}
