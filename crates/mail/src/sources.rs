//! Sources of the templates: files of the operator, or else the embedded texts.
//!
//! A template has the name of its file: `verify_code.txt` in English, `de/verify_code.txt` in German. In addition,
//! each phrase of `words.md` is a template: `de/words/greeting`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use latchkey_domain::locale::Locale;

use crate::markdown;
use crate::render::TemplateError;
use crate::template::{LANGUAGES, LAYOUT, WORDS, embedded, is_mail, names};

const LONGEST_FILE: u64 = 256 * 1024;
const LAYOUT_FILE: &str = "layout.html";

/// The operator's template files by name, and the languages of these files and of the embedded texts.
pub(crate) struct Sources {
    own: BTreeMap<String, String>,
    pub(crate) locales: Vec<Locale>,
}

impl Sources {
    pub(crate) fn embedded() -> Self {
        let locales = LANGUAGES.iter().filter_map(|language| Locale::parse(language).ok()).collect();
        Self { own: BTreeMap::new(), locales }
    }

    /// Adds the files of `folder` and of the folders in it that are named like a language. Hidden files are skipped;
    /// any other unknown name is an error, so that a typing error does not pass unnoticed.
    pub(crate) fn load(folder: &Path) -> Result<Self, TemplateError> {
        let mut sources = Self::embedded();
        sources.read_folder(folder, "")?;
        Ok(sources)
    }

    /// Returns the source of a template; `None` if there is none.
    pub(crate) fn find(&self, template: &str) -> Option<String> {
        if let Some(own) = self.own.get(template) {
            return Some(own.clone());
        }
        let (language, file) =
            template.split_once('/').filter(|(first, _)| *first != WORDS).unwrap_or(("", template));
        if file == LAYOUT_FILE {
            return self.own.get(LAYOUT_FILE).cloned().or_else(|| Some(LAYOUT.to_owned()));
        }
        if let Some((WORDS, key)) = file.split_once('/') {
            let mark = format!("- {key}: ");
            return self
                .markdown(language, WORDS)?
                .lines()
                .find_map(|line| line.strip_prefix(&mark))
                .map(str::to_owned);
        }
        let (name, form) = file.split_once('.')?;
        let source = self.markdown(language, name)?;
        match form {
            "subject.txt" => Some(markdown::subject(source)),
            "txt" => Some(markdown::text(source)),
            "html" => Some(markdown::html(source)),
            _ => None,
        }
    }

    /// Returns the Markdown source of the mail or shared text `name`: the operator's file, or else the
    /// embedded one. An empty `language` selects the first of the embedded languages.
    fn markdown(&self, language: &str, name: &str) -> Option<&str> {
        let own = self.own.get(&template_name(language, &format!("{name}.md")));
        let language = if language.is_empty() { LANGUAGES[0] } else { language };
        own.map(String::as_str).or_else(|| embedded(language, name))
    }

    fn read_folder(&mut self, folder: &Path, language: &str) -> Result<(), TemplateError> {
        let unreadable = |path: &Path| {
            let path = path.to_owned();
            move |source| TemplateError::Unreadable { path, source }
        };
        for entry in std::fs::read_dir(folder).map_err(unreadable(folder))? {
            let path = entry.map_err(unreadable(folder))?.path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if name.starts_with('.') {
                continue;
            }
            if is_known(&name) {
                let source = read_file(&path).map_err(unreadable(&path))?;
                self.own.insert(template_name(language, &name), source);
            } else if let Some(locale) = own_language(&path, &name).filter(|_| language.is_empty()) {
                if !self.locales.contains(&locale) {
                    self.locales.push(locale);
                }
                self.read_folder(&path, &name)?;
            } else {
                return Err(unknown(path));
            }
        }
        Ok(())
    }
}

/// Builds the name of a template. The first of the embedded languages has no folder.
pub(crate) fn template_name(language: &str, file: &str) -> String {
    if language.is_empty() || language == LANGUAGES[0] {
        file.to_owned()
    } else {
        format!("{language}/{file}")
    }
}

/// Returns the language of a folder; `None` if the path is no folder, or not named like a language.
fn own_language(path: &Path, name: &str) -> Option<Locale> {
    let locale = Locale::parse(name).ok().filter(|locale| locale.as_str() == name && name != LANGUAGES[0]);
    locale.filter(|_| path.is_dir())
}

fn is_known(file: &str) -> bool {
    let Some((name, form)) = file.split_once('.') else { return false };
    match form {
        "md" => names().any(|known| known == name),
        "subject.txt" => is_mail(name),
        "txt" | "html" => file == LAYOUT_FILE || name != WORDS && names().any(|known| known == name),
        _ => false,
    }
}

fn unknown(path: PathBuf) -> TemplateError {
    TemplateError::UnknownFile { path, known: names().collect() }
}

fn read_file(path: &Path) -> std::io::Result<String> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(std::io::Error::other("is not a file"));
    }
    if metadata.len() > LONGEST_FILE {
        return Err(std::io::Error::other("is longer than 256 KiB"));
    }
    std::fs::read_to_string(path)
}
