//! The checks before a start: files, folders, rights, the address and the database, inspected and never changed.
//! `config check` makes all of them; the start makes those that no other step of it makes.

mod address;
mod database;
mod files;
mod folders;
mod permissions;

use crate::settings::{Problem, Settings, SettingsError};

/// Outcome of the checks.
#[derive(Debug, Default)]
pub struct Findings {
    /// Faults with which no start succeeds.
    pub problems: Vec<Problem>,
    /// Facts that are allowed and probably not meant.
    pub warnings: Vec<String>,
    /// Facts that are good to know.
    pub notes: Vec<String>,
}

impl Findings {
    fn refuse(&mut self, place: &str, sentence: impl Into<String>) {
        self.problems.push(Problem::new(place, sentence));
    }
}

/// The places of settings that are wrong already: no check builds on them.
struct Bad<'a>(&'a [Problem]);

impl Bad<'_> {
    /// Something is wrong with a key that begins so.
    fn has(&self, prefix: &str) -> bool {
        self.0.iter().any(|problem| problem.key().starts_with(prefix))
    }
}

/// Makes the checks of a start: modes of files, templates, certificates. Their warnings go with the settings.
///
/// # Errors
/// Everything that is wrong, at once.
pub fn admit(mut settings: Settings) -> Result<Settings, SettingsError> {
    let mut findings = Findings::default();
    permissions::inspect(&settings, &mut findings);
    files::inspect(&settings, &Bad(&[]), &mut findings);
    if !findings.problems.is_empty() {
        return Err(findings.problems.into());
    }
    findings.warnings.into_iter().for_each(|warning| settings.warn(warning));
    Ok(settings)
}

/// Makes all checks, for settings of which `found` is known to be wrong.
pub async fn rehearse(settings: &Settings, found: &[Problem]) -> Findings {
    let bad = Bad(found);
    let mut findings = Findings::default();
    permissions::inspect(settings, &mut findings);
    files::inspect(settings, &bad, &mut findings);
    folders::inspect(settings, &bad, &mut findings);
    address::inspect(settings, &bad, &mut findings);
    database::inspect(settings, &bad, &mut findings).await;
    findings
}
