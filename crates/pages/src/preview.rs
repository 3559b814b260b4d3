//! The preview: every page in every state, written as static HTML.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

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

/// Writes every page in every state into a folder, with the files that they load and an index. Returns the names of the
/// states.
pub fn write_preview(preview: Preview<'_>, folder: &Path) -> Result<Vec<&'static str>, PreviewError> {
    let Preview { site, theme, languages, language, templates, person, root } = preview;
    let pages = Pages::build(site, theme, languages, templates, root)?;
    let files = folder.join("assets").join(pages.assets().digest());
    fs::create_dir_all(&files).map_err(|source| PreviewError::Write { path: files.clone(), source })?;
    for asset in pages.assets().all() {
        write(&files.join(asset.name), &asset.bytes)?;
    }

    let language = pages.languages().choose([language]);
    let mut names = Vec::new();
    let mut index = String::new();
    for state in states::all(person) {
        let html = pages.render(language, &state.frame, state.view.as_ref())?;
        write(&folder.join(format!("{}.html", state.name)), html.as_bytes())?;
        let name = escape::text(state.name);
        let _ = writeln!(index, "<li><a href=\"{name}.html\">{name}</a></li>");
        names.push(state.name);
    }
    let index =
        format!("<!doctype html>\n<html lang=\"en\">\n<title>Preview</title>\n<ul>\n{index}</ul>\n</html>\n");
    write(&folder.join("index.html"), index.as_bytes())?;
    Ok(names)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), PreviewError> {
    fs::write(path, bytes).map_err(|source| PreviewError::Write { path: path.to_owned(), source })
}
