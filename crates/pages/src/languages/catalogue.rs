//! The texts of one language: a TOML file of tables with a text, or plural forms, per key.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use super::plural;

/// Number of names of months in a file.
const MONTHS: usize = 12;

/// The texts of a language.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// Name of the language in the language itself.
    pub name: String,
    /// Language tag (BCP 47).
    pub tag: String,
    pub(super) is_right_to_left: bool,
    pub(super) months: Vec<String>,
    /// Separator of groups of three digits; empty for none.
    pub(super) group: String,
    pub(super) texts: HashMap<String, Text>,
}

/// One text, with placeholders such as `{host}`.
#[derive(Debug, Clone)]
pub(crate) enum Text {
    Plain(String),
    /// Text per plural category (CLDR). The value of the placeholder `{count}` selects the
    /// category.
    Plural(BTreeMap<String, String>),
}

/// Fault of the file of a language.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("is not valid TOML: {0}")]
    Syntax(String),
    #[error("{0} is missing")]
    Missing(String),
    #[error("{0} is not known")]
    Unknown(String),
    #[error("{0} is not what it has to be: {1}")]
    Kind(String, &'static str),
    #[error("{key} has the placeholders {found}, and in English {wanted}")]
    Placeholders { key: String, found: Placeholders, wanted: Placeholders },
}

/// Names of placeholders, displayed as in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholders(BTreeSet<String>);

impl fmt::Display for Placeholders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        self.0.iter().try_for_each(|name| write!(f, "{{{name}}}"))
    }
}

impl Text {
    /// Returns the text for this number. A text without plural forms is the same for every number.
    pub(crate) fn form(&self, tag: &str, count: Option<u64>) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Plural(forms) => {
                let category = plural::category(tag, count.unwrap_or_default());
                forms.get(category).or_else(|| forms.get("other")).map_or("", String::as_str)
            }
        }
    }

    /// Returns all forms for modification.
    pub(super) fn forms_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Plain(text) => vec![text],
            Self::Plural(forms) => forms.values_mut().collect(),
        }
    }

    /// Placeholders of all forms. The form of a single number may leave out `{count}`.
    fn placeholders(&self) -> Placeholders {
        let mut names = BTreeSet::new();
        let forms = match self {
            Self::Plain(text) => vec![text],
            Self::Plural(forms) => forms.values().collect(),
        };
        for form in forms {
            names.extend(pieces(form).filter_map(|piece| match piece {
                Piece::Placeholder(name) => Some(name.to_owned()),
                Piece::Literal(_) => None,
            }));
        }
        Placeholders(names)
    }
}

/// A part of a text: literal text, or a placeholder.
pub(crate) enum Piece<'a> {
    Literal(&'a str),
    Placeholder(&'a str),
}

/// Splits a text at its placeholders. An unclosed brace is literal.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((name, after)) = rest.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            rest = after;
            return Some(Piece::Placeholder(name));
        }
        let end = rest.char_indices().skip(1).find(|(_, c)| *c == '{').map_or(rest.len(), |(at, _)| at);
        let (literal, after) = rest.split_at(end);
        rest = after;
        Some(Piece::Literal(literal))
    })
}

impl Catalogue {
    /// Parses a file. Texts may be missing: [`checked`] compares the file with the English one.
    pub fn parse(tag: &str, source: &str) -> Result<Self, Vec<Fault>> {
        let file = source.parse::<toml::Table>().map_err(|error| vec![syntax(source, &error)])?;
        let mut catalogue = Self { tag: tag.to_owned(), ..Self::default() };
        let mut faults = Vec::new();
        for (key, value) in file {
            let fault = match value {
                toml::Value::Table(table) => {
                    faults.extend(catalogue.read_texts(&key, table));
                    None
                }
                value => catalogue.read_head(key, value),
            };
            faults.extend(fault);
        }
        for (key, is_missing) in
            [("name", catalogue.name.is_empty()), ("months", catalogue.months.len() != MONTHS)]
        {
            faults.extend(is_missing.then(|| Fault::Missing(key.to_owned())));
        }
        if faults.is_empty() { Ok(catalogue) } else { Err(faults) }
    }

    /// Adds the texts of a further file. One with the key of a present text replaces it.
    pub(crate) fn extend(&mut self, source: &str) -> Result<(), Vec<Fault>> {
        let file = source.parse::<toml::Table>().map_err(|error| vec![syntax(source, &error)])?;
        let mut faults = Vec::new();
        for (key, value) in file {
            match value {
                toml::Value::Table(table) => faults.extend(self.read_texts(&key, table)),
                _ => faults.push(Fault::Unknown(key)),
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// Returns a text by its full key, such as `sign_in.title`.
    pub(crate) fn text(&self, key: &str) -> Option<&Text> {
        self.texts.get(key)
    }

    /// Returns all full keys.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(String::as_str)
    }

    /// Returns the value of the attribute `dir`.
    #[must_use]
    pub fn direction(&self) -> &'static str {
        if self.is_right_to_left { "rtl" } else { "ltr" }
    }

    fn read_head(&mut self, key: String, value: toml::Value) -> Option<Fault> {
        match (key.as_str(), value) {
            ("name", toml::Value::String(name)) => self.name = name,
            ("group", toml::Value::String(group)) => self.group = group,
            ("right_to_left", toml::Value::Boolean(is)) => self.is_right_to_left = is,
            ("months", toml::Value::Array(months)) => {
                self.months = months.iter().filter_map(|month| month.as_str().map(str::to_owned)).collect();
                if self.months.len() != MONTHS {
                    return Some(Fault::Kind(key, "twelve names"));
                }
            }
            _ => return Some(Fault::Unknown(key)),
        }
        None
    }

    fn read_texts(&mut self, group: &str, table: toml::Table) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (key, value) in table {
            let key = format!("{group}.{key}");
            let text = match value {
                toml::Value::String(text) if !text.trim().is_empty() => Ok(Text::Plain(text)),
                toml::Value::Table(forms) => plural_forms(&key, forms),
                _ => Err(Fault::Kind(key.clone(), "a text")),
            };
            match text {
                Ok(text) => drop(self.texts.insert(key, text)),
                Err(fault) => faults.push(fault),
            }
        }
        faults
    }
}

fn plural_forms(key: &str, forms: toml::Table) -> Result<Text, Fault> {
    let mut texts = BTreeMap::new();
    for (category, form) in forms {
        let toml::Value::String(form) = form else {
            return Err(Fault::Kind(format!("{key}.{category}"), "a text"));
        };
        if !plural::CATEGORIES.contains(&category.as_str()) {
            return Err(Fault::Unknown(format!("{key}.{category}")));
        }
        texts.insert(category, form);
    }
    if texts.contains_key("other") {
        Ok(Text::Plural(texts))
    } else {
        Err(Fault::Missing(format!("{key}.other")))
    }
}

/// Parses a file and compares it with the English one.
pub(super) fn checked(tag: &str, source: &str, english: &Catalogue) -> Result<Catalogue, Vec<Fault>> {
    let catalogue = Catalogue::parse(tag, source)?;
    let faults = differences(&catalogue, english);
    if faults.is_empty() { Ok(catalogue) } else { Err(faults) }
}

/// Returns the differences of a language from English: missing texts, unknown texts, other
/// placeholders.
pub(super) fn differences(catalogue: &Catalogue, english: &Catalogue) -> Vec<Fault> {
    let mut keys: Vec<&str> = english.keys().chain(catalogue.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter().filter_map(|key| difference(key, catalogue.text(key), english.text(key))).collect()
}

fn difference(key: &str, own: Option<&Text>, english: Option<&Text>) -> Option<Fault> {
    let (own, english) = match (own, english) {
        (Some(own), Some(english)) => (own, english),
        (None, _) => return Some(Fault::Missing(key.to_owned())),
        (_, None) => return Some(Fault::Unknown(key.to_owned())),
    };
    match (own, english) {
        (Text::Plural(_), Text::Plain(_)) => return Some(Fault::Kind(key.to_owned(), "one text")),
        (Text::Plain(_), Text::Plural(_)) => return Some(Fault::Kind(key.to_owned(), "plural forms")),
        _ => {}
    }
    let (found, wanted) = (own.placeholders(), english.placeholders());
    (found != wanted).then(|| Fault::Placeholders { key: key.to_owned(), found, wanted })
}

/// Returns the name of a language from the head of its file, without parsing its texts.
pub(super) fn name_of(source: &str) -> Option<String> {
    let head = source.split_once("\n[").map_or(source, |(head, _)| head);
    let head = head.parse::<toml::Table>().ok()?;
    head.get("name")?.as_str().map(str::to_owned)
}

fn syntax(source: &str, error: &toml::de::Error) -> Fault {
    let line = error.span().map(|span| source[..span.start.min(source.len())].matches('\n').count() + 1);
    let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
    Fault::Syntax(format!("{place}{}", error.message()))
}
