//! The preview: every page in every state, written as static HTML.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::console::{self, Console, Instance, Mode};
use crate::escape;
use crate::frame::Site;
use crate::languages::Languages;
use crate::pages::Pages;
use crate::states::{self, Person};
use crate::templates::TemplateError;
use crate::theme::Theme;

/// Error of a preview.
#[derive(Debug, thiserror::Error)]
pub enum PreviewError {
    #[error(transparent)]
    Template(#[from] TemplateError),
    #[error("the language `{language}` is unknown; known are {}", known.join(", "))]
    UnknownLanguage {
        language: String,
        /// Tags of the languages.
        known: Vec<String>,
    },
    #[error("{}: cannot be written: {source}", path.display())]
    Write {
        path: PathBuf,
        /// I/O error of the operating system.
        source: io::Error,
    },
}

/// Settings of a preview.
pub struct Preview<'a> {
    pub site: Site,
    pub theme: &'a Theme,
    pub languages: Languages,
    /// Tag of the language.
    pub language: &'a str,
    /// Folder of the operator's templates.
    pub templates: Option<&'a Path>,
    pub person: &'a Person,
    /// Text with which the URLs of files begin, before the digest: `assets` for a folder that is opened without a
    /// server.
    pub root: &'a str,
}

/// Writes every page of pages and console in every state into a folder, with the files that they load and an index. Returns the names of the
/// states.
pub fn write_preview(preview: Preview<'_>, folder: &Path) -> Result<Vec<&'static str>, PreviewError> {
    let Preview { site, theme, languages, language, templates, person, root } = preview;
    if languages.find(language).is_none() {
        let mut known: Vec<_> = languages.all().iter().map(|known| known.tag.clone()).collect();
        known.sort();
        return Err(PreviewError::UnknownLanguage { language: language.to_owned(), known });
    }
    let instance = Instance {
        name: site.name.clone(),
        mode: Mode::Development,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let console = Console::build(&instance, theme, root)?;
    let pages = Pages::build(site, theme, languages, templates, root)?;
    let files = folder.join("assets").join(pages.assets().digest());
    fs::create_dir_all(&files).map_err(|source| PreviewError::Write { path: files.clone(), source })?;
    for asset in pages.assets().all() {
        write(&files.join(asset.name), &asset.bytes)?;
    }

    let language = pages.languages().choose([language]);
    let mut shown = Vec::new();
    for state in states::all(person) {
        shown.push((state.name, pages.render(language, &state.frame, state.view.as_ref())?));
    }
    for state in console::all_states(person) {
        shown.push((state.name, console.render(&state.frame, state.view.as_ref())?));
    }
    let mut index = String::new();
    for (name, html) in &shown {
        write(&folder.join(format!("{name}.html")), html.as_bytes())?;
        let name = escape::text(name);
        let _ = writeln!(index, "<li><a href=\"{name}.html\">{name}</a></li>");
    }
    let index =
        format!("<!doctype html>\n<html lang=\"en\">\n<title>Preview</title>\n<ul>\n{index}</ul>\n</html>\n");
    write(&folder.join("index.html"), index.as_bytes())?;
    Ok(shown.into_iter().map(|(name, _)| name).collect())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), PreviewError> {
    fs::write(path, bytes).map_err(|source| PreviewError::Write { path: path.to_owned(), source })
}
