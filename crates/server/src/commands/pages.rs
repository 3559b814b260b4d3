//! Command `latchkey pages`.

use latchkey_pages::{Person, Preview, write_preview};

use super::CommandError;
use crate::cli::PagesCommand;
use crate::settings::Settings;
use crate::wiring::{PageParts, page_parts};

pub(super) fn run(settings: &Settings, command: PagesCommand) -> Result<(), CommandError> {
    let PagesCommand::Preview { out, locale } = command;
    let PageParts { site, theme, languages } = page_parts(settings)?;
    let preview = Preview {
        site,
        theme: &theme,
        languages,
        language: &locale,
        templates: settings.pages.templates_dir.as_deref(),
        person: &Person::plain(),
        root: "assets",
    };
    let names = write_preview(preview, &out).map_err(|error| CommandError::Refused(error.to_string()))?;
    println!("{} pages written; open {}", names.len(), out.join("index.html").display());
    Ok(())
}
