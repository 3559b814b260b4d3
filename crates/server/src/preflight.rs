//! Checks before a start: secret files, templates, folders, listen address and database. They change nothing. `config
//! check` makes all of them. A start makes only those that its later steps do not include.

mod address;
mod database;
mod files;
mod folders;
mod permissions;

use crate::settings::{Problem, Settings, SettingsError};
use crate::wiring::WiringError;

#[derive(Debug, Default)]
pub struct Findings {
    /// Faults that make a start fail.
    pub problems: Vec<Problem>,
    /// Valid settings or file modes that are probably mistakes.
    pub warnings: Vec<String>,
    /// Effects of a start that the operator should know, such as migrations.
    pub notes: Vec<String>,
}

impl Findings {
    fn refuse(&mut self, place: &str, sentence: impl Into<String>) {
        self.problems.push(Problem::new(place, sentence));
    }

    /// Refuses what the start would fail with, with a remedy behind its sentence.
    fn refuse_as(&mut self, error: &WiringError, remedy: &str) {
        let (place, sentence) = error.place_and_sentence();
        self.refuse(&place, format!("{sentence}{remedy}"));
    }
}

/// Problems found in the settings so far. A check that needs a setting with a problem is skipped.
struct Bad<'a>(&'a [Problem]);

impl Bad<'_> {
    /// True if a key with this prefix has a problem.
    fn has(&self, prefix: &str) -> bool {
        self.0.iter().any(|problem| problem.key().starts_with(prefix))
    }
}

/// Makes the checks that precede every start of the service: modes of secret files, mail templates, certificates, headers
/// of traces, the folder of backups. Adds their warnings to those of the settings.
///
/// # Errors
/// All problems together.
pub fn admit(mut settings: Settings) -> Result<Settings, SettingsError> {
    let mut findings = Findings::default();
    permissions::inspect(&settings, &mut findings);
    files::inspect(&settings, &Bad(&[]), &mut findings);
    folders::inspect_backups(&settings, &mut findings);
    if !findings.problems.is_empty() {
        return Err(findings.problems.into());
    }
    findings.warnings.into_iter().for_each(|warning| settings.warn(warning));
    Ok(settings)
}

/// Makes all checks and collects their findings. `found` are the problems already found in the settings; a check that
/// needs one of those settings is skipped.
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
