//! Languages of the pages, built-in and of the operator, and the selection of one for a request.

mod catalogue;
mod moments;
mod plural;
mod pseudo;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use latchkey_domain::locale::look_up;

pub use catalogue::{Catalogue, Fault};
pub(crate) use catalogue::{Piece, pieces};

/// Built-in languages with their files. The first one defines which texts there are; the others are compared with it.
const BUILT_IN: [(&str, &str); 8] = [
    ("en", include_str!("../locales/en.toml")),
    ("de", include_str!("../locales/de.toml")),
    ("fr", include_str!("../locales/fr.toml")),
    ("es", include_str!("../locales/es.toml")),
    ("it", include_str!("../locales/it.toml")),
    ("pt", include_str!("../locales/pt.toml")),
    ("ja", include_str!("../locales/ja.toml")),
    ("zh", include_str!("../locales/zh.toml")),
];
/// The texts of the console, which add to the English ones of the pages.
const CONSOLE: &str = include_str!("../locales/console.toml");
/// Tag of the pseudo-language, which is English with accents, longer, and from right to left.
pub const PSEUDO: &str = "qps";
const LONGEST_FILE: u64 = 256 * 1024;

/// Error of the operator's folder of languages.
#[derive(Debug, thiserror::Error)]
pub enum LanguageError {
    /// The folder or a file in it is unreadable, not UTF-8, or too long.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        /// I/O error of the operating system.
        source: std::io::Error,
    },
    /// A file is not named after a language tag, such as `pl.toml`.
    #[error("{}: the file of a language is named like its tag, such as pl.toml or pt-BR.toml", path.display())]
    Name { path: PathBuf },
    /// A file is no TOML, or differs from the English one in keys or placeholders.
    #[error("{}: {}", path.display(), list(faults))]
    Broken { path: PathBuf, faults: Vec<Fault> },
}

/// One language: its tag, its own name, and its texts, which are parsed when they are first used.
#[derive(Debug)]
pub struct Language {
    /// Language tag (BCP 47).
    pub tag: String,
    /// Name of the language in the language itself.
    pub name: String,
    source: Source,
    catalogue: OnceLock<Catalogue>,
}

#[derive(Debug)]
enum Source {
    BuiltIn(&'static str),
    Pseudo,
    Console,
    Operator,
}

/// The languages of a service.
#[derive(Debug)]
pub struct Languages {
    list: Vec<Language>,
}

impl Languages {
    /// Returns the built-in languages.
    #[must_use]
    pub fn built_in() -> Self {
        let list = BUILT_IN.iter().map(|(tag, source)| {
            let name = catalogue::name_of(source).unwrap_or_default();
            Language::new(tag, name, Source::BuiltIn(source))
        });
        Self { list: list.collect() }
    }

    /// Returns the language of the console: English, with the texts of the pages and its own.
    #[must_use]
    pub(crate) fn console() -> Self {
        let (tag, source) = BUILT_IN[0];
        let name = catalogue::name_of(source).unwrap_or_default();
        Self { list: vec![Language::new(tag, name, Source::Console)] }
    }

    /// Adds the pseudo-language, for tests and development.
    #[must_use]
    pub fn with_pseudo(mut self) -> Self {
        self.list.push(Language::new(PSEUDO, pseudo::NAME.to_owned(), Source::Pseudo));
        self
    }

    /// Adds or replaces languages by the files of `folder`. Hidden files are skipped.
    pub fn with_folder(mut self, folder: &Path) -> Result<Self, LanguageError> {
        let unreadable = |path: &Path| {
            let path = path.to_owned();
            move |source| LanguageError::Unreadable { path, source }
        };
        let entries = std::fs::read_dir(folder).map_err(unreadable(folder))?;
        let mut paths = entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(unreadable(folder))?;
        paths.sort();
        for path in paths {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            if stem.starts_with('.') {
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "toml") || !is_tag(stem) {
                return Err(LanguageError::Name { path });
            }
            let text = crate::files::read_text(&path, LONGEST_FILE).map_err(unreadable(&path))?;
            let catalogue = catalogue::checked(stem, &text, english())
                .map_err(|faults| LanguageError::Broken { path: path.clone(), faults })?;
            self.replace(stem, catalogue);
        }
        Ok(self)
    }

    /// Returns all languages: the built-in ones, then those that the operator added.
    #[must_use]
    pub fn all(&self) -> &[Language] {
        &self.list
    }

    /// Returns the language of the first tag that is known; English if none is known.
    pub fn choose<'a>(&self, tags: impl IntoIterator<Item = &'a str>) -> &Language {
        tags.into_iter().find_map(|tag| self.find(tag)).unwrap_or(&self.list[0])
    }

    /// Returns the language of a tag, exactly or without its last parts: `de-AT` falls back to `de`.
    pub(crate) fn find(&self, tag: &str) -> Option<&Language> {
        look_up(tag, &self.list, |language| &language.tag)
    }

    fn replace(&mut self, tag: &str, catalogue: Catalogue) {
        let language = Language::new(tag, catalogue.name.clone(), Source::Operator);
        let _ = language.catalogue.set(catalogue);
        match self.list.iter_mut().find(|present| present.tag.eq_ignore_ascii_case(tag)) {
            Some(present) => *present = language,
            None => self.list.push(language),
        }
    }
}

impl Language {
    fn new(tag: &str, name: String, source: Source) -> Self {
        Self { tag: tag.to_owned(), name, source, catalogue: OnceLock::new() }
    }

    /// Returns the texts.
    pub fn catalogue(&self) -> &Catalogue {
        self.catalogue.get_or_init(|| match &self.source {
            Source::BuiltIn(source) => Catalogue::parse(&self.tag, source).unwrap_or_default(),
            Source::Pseudo => pseudo::of(english()),
            Source::Console => console(),
            Source::Operator => Catalogue::default(), // never used: the texts are set when the file is read
        })
    }
}

/// Returns the tags of an `Accept-Language` header (RFC 9110 section 12.5.4), most preferred first. `*` and tags with
/// weight 0 are left out.
#[must_use]
pub fn accepted(header: &str) -> Vec<&str> {
    let mut tags: Vec<(u16, &str)> = header.split(',').take(32).filter_map(weighted).collect();
    tags.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    tags.into_iter().map(|(_, tag)| tag).collect()
}

/// Returns the weight in thousandths, and the tag.
fn weighted(part: &str) -> Option<(u16, &str)> {
    let mut parts = part.split(';').map(str::trim);
    let tag = parts.next().filter(|tag| is_tag(tag))?;
    let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(1000, thousandths);
    (weight > 0).then_some((weight, tag))
}

/// Reads a weight of up to three decimals, `0` to `1`. Others count as 0.
fn thousandths(weight: &str) -> u16 {
    let (whole, decimals) = weight.split_once('.').unwrap_or((weight, ""));
    let is_number = decimals.len() <= 3 && decimals.bytes().all(|byte| byte.is_ascii_digit());
    match whole {
        "1" => 1000,
        "0" if is_number => format!("{decimals:0<3}").parse().unwrap_or(0),
        _ => 0,
    }
}

/// True for the shape of a language tag (BCP 47): parts of up to eight letters and digits, 35 characters at most.
fn is_tag(text: &str) -> bool {
    let is_part =
        |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric());
    text.len() <= 35 && text.split('-').all(is_part)
}

/// Returns the English texts, with which every other language is compared.
fn english() -> &'static Catalogue {
    static ENGLISH: OnceLock<Catalogue> = OnceLock::new();
    ENGLISH.get_or_init(|| Catalogue::parse(BUILT_IN[0].0, BUILT_IN[0].1).unwrap_or_default())
}

/// Returns the English texts of the pages and of the console.
fn console() -> Catalogue {
    let mut catalogue = Catalogue::parse(BUILT_IN[0].0, BUILT_IN[0].1).unwrap_or_default();
    // The file is embedded; a fact of this crate parses it.
    let _ = catalogue.extend(CONSOLE);
    catalogue
}

fn list(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests;
