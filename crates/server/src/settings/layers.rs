//! Merge of the sources: defaults, file, environment, command line. Unknown keys and values of the wrong type are
//! reported here; the structs of the sections check the rest.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use latchkey_settings::{
    Entries, Entry, Found, Item, Kind, PREFIX, Problems, Source, Value, from_text, from_toml, variable_of,
};

use super::keys;
use super::scope::Scope;
use super::source::{ReadFile, Sources};
use super::variables::{self, Slip, key_of_file, key_of_file_variable, key_of_variable};

pub(super) fn merge(sources: Sources, scope: Scope, problems: &mut Problems) -> Entries {
    let defaults = keys::ITEMS.iter().filter_map(|item| {
        Some((item.name, Entry { value: item.default_value()?, source: Source::Default }))
    });
    let read_file = sources.read_file;
    let mut layers = Layers { entries: defaults.collect(), scope, read_file, problems };
    if let Some((path, text)) = sources.file {
        layers.add_toml(&text, &path);
    }
    layers.add_environment(sources.environment);
    for (index, text) in sources.overrides.into_iter().enumerate() {
        layers.add_override(index, &text);
    }
    super::derive(&mut layers.entries);
    layers.entries
}

struct Layers<'a> {
    entries: Entries,
    scope: Scope,
    read_file: ReadFile,
    problems: &'a mut Problems,
}

impl Layers<'_> {
    fn add_toml(&mut self, text: &str, path: &Path) {
        let source = &Source::File(path.to_owned());
        match text.parse::<toml::Table>() {
            Ok(table) => self.add_table("", table, path),
            Err(error) => {
                // The parser's full error quotes the line, which may contain a secret.
                let line = error.span().map_or(1, |span| line_of(text, span.start));
                let sentence = format!("line {line} is not TOML: {}", error.message());
                self.problems.at(&source.to_string(), sentence);
            }
        }
    }

    fn add_table(&mut self, section: &str, table: toml::Table, path: &Path) {
        let source = &Source::File(path.to_owned());
        let mut files = Vec::new();
        for (name, value) in table {
            let name = if section.is_empty() { name } else { format!("{section}.{name}") };
            match (keys::find(&name), value) {
                (Some(key), value) => self.set(key, from_toml(key.kind, value), source),
                (None, toml::Value::String(file)) if key_of_file(&name).is_some() => files.push((name, file)),
                (None, toml::Value::Table(inner)) if keys::is_section(&name) => {
                    self.add_table(&name, inner, path);
                }
                (None, _) if keys::is_section(&name) => {
                    let sentence = format!("it is a section; write [{name}] and its keys below");
                    self.problems.at(&format!("{name} ({source})"), sentence);
                }
                (None, _) => self.unknown(&name, source, keys::nearest(&name).map(str::to_owned)),
            }
        }
        for (name, file) in files {
            self.add_secret_file(&name, &file, path);
        }
    }

    /// Sets a secret that a settings file names by the path of its own file, relative to the settings file.
    fn add_secret_file(&mut self, name: &str, file: &str, settings_file: &Path) {
        let Some(key) = key_of_file(name).filter(|key| !self.scope.leaves_out(key.name)) else { return };
        let is_given = |entry: &Entry| matches!(entry.source, Source::File(_));
        if self.entries.get(key.name).is_some_and(is_given) {
            let sentence = format!("{} is set too; keep one of the two", key.name);
            return self.problems.at(name, sentence);
        }
        let path = settings_file.parent().unwrap_or(Path::new("")).join(file);
        if let Some(text) = self.read_secret(name, &path) {
            self.set(key, from_text(key.kind, text), &Source::SecretFile(name.to_owned(), path));
        }
    }

    fn add_environment(&mut self, variables: Vec<(OsString, OsString)>) {
        let mut seen = BTreeSet::new();
        let (mut ours, mut others): (Vec<_>, Vec<_>) = variables
            .into_iter()
            .partition(|(name, _)| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()));
        ours.sort();
        others.sort();
        for (name, value) in &others {
            self.inspect_other(&name.to_string_lossy(), &value.to_string_lossy());
        }
        for (name, value) in ours {
            let name = name.to_string_lossy().into_owned();
            let Ok(value) = value.into_string() else {
                self.problems.at(&name, "its value is not UTF-8; write it again");
                continue;
            };
            self.add_variable(&name, value, &mut seen);
        }
    }

    /// Reports an environment variable without the prefix `LATCHKEY__` if it looks like a misspelt setting.
    fn inspect_other(&mut self, name: &str, value: &str) {
        match variables::slip(name, value) {
            Some(Slip::Misspelt(meant)) => {
                let sentence = format!(
                    "there is no such setting; did you mean {meant}? Two underscores stand behind LATCHKEY and \
                     between section and key"
                );
                self.problems.at(name, sentence);
            }
            Some(Slip::Similar(meant)) => {
                self.problems
                    .warn(format!("{name} is not read; if it was meant as a setting, write {meant}"));
            }
            Some(Slip::Unknown) => {
                let sentence = format!(
                    "{name} begins with LATCHKEY_ and is no setting; take it out, or write LATCHKEY__SECTION__KEY"
                );
                self.problems.warn(sentence);
            }
            None => {}
        }
    }

    fn add_variable(&mut self, name: &str, value: String, seen: &mut BTreeSet<&'static str>) {
        let (key, source, value) = if let Some(key) = key_of_variable(name) {
            (key, Source::Environment(name.to_owned()), value)
        } else if let Some(key) = key_of_file_variable(name) {
            let is_unset = value.is_empty(); // deployment templates set unused variables to an empty text
            if is_unset || self.scope.leaves_out(key.name) {
                return;
            }
            let Some(text) = self.read_secret(name, Path::new(&value)) else {
                return;
            };
            (key, Source::SecretFile(name.to_owned(), PathBuf::from(value)), text)
        } else {
            return self.unknown(name, &Source::Environment(name.to_owned()), variables::guess(name));
        };
        let is_unset = matches!(key.kind, Kind::Secret) && value.is_empty();
        if !is_unset && !seen.insert(key.name) {
            let other = variable_of(key.name);
            let sentence = format!("{other} is set too; keep one of the two");
            self.problems.at(name, sentence);
        }
        self.set(key, from_text(key.kind, value), &source);
    }

    fn read_secret(&mut self, name: &str, path: &Path) -> Option<String> {
        match (self.read_file)(path) {
            Ok(mut text) => {
                text.truncate(text.trim_end_matches(['\r', '\n']).len());
                Some(text)
            }
            Err(error) => {
                let sentence = format!("the file {:?} cannot be read ({error})", path.display().to_string());
                self.problems.at(name, sentence);
                None
            }
        }
    }

    fn add_override(&mut self, index: usize, text: &str) {
        let source = Source::CommandLine;
        let Some((name, value)) = text.split_once('=') else {
            // The text is not quoted, because it may be a secret.
            let sentence = "write section.key=value";
            return self.problems.at(&format!("--set, number {}", index + 1), sentence);
        };
        match (keys::find(name.trim()), key_of_file(name.trim())) {
            (Some(key), _) => self.set(key, from_text(key.kind, value.to_owned()), &source),
            (None, Some(key)) => {
                let name = name.trim();
                let variable = variable_of(key.name);
                let sentence = format!(
                    "--set takes no file of a secret; set {name} in the settings file, or the variable {variable}_FILE"
                );
                self.problems.at(&format!("{name} ({source})"), sentence);
            }
            (None, None) => self.unknown(name, &source, keys::nearest(name).map(str::to_owned)),
        }
    }

    fn set(&mut self, key: Item, value: Result<Value, Found>, source: &Source) {
        match value {
            Ok(Value::Text(text)) if text.is_empty() && key.is_unset_by_empty_text() => {
                self.entries.remove(key.name);
            }
            Ok(value) => {
                self.entries.insert(key.name, Entry { value, source: source.clone() });
            }
            Err(Found(found)) => {
                let found = if key.kind.is_sensitive() { "something else" } else { found.as_str() };
                let sentence = format!("found {found}, wanted {}", key.kind);
                self.problems.value(key.name, source, &sentence);
            }
        }
    }

    fn unknown(&mut self, name: &str, source: &Source, nearest: Option<String>) {
        let place = match source {
            Source::Environment(_) => name.to_owned(),
            _ => format!("{name} ({source})"),
        };
        let hint = nearest.map_or_else(
            || "`latchkey config print` lists the settings".to_owned(),
            |nearest| format!("did you mean {nearest}?"),
        );
        self.problems.at(&place, format!("there is no such setting; {hint}"));
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}
