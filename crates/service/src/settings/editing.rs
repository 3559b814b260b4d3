//! The editable settings one by one, as the console shows and changes them.

use latchkey_domain::locale::Locale;
use latchkey_settings::{Fallback, Group, Item, Kind, Source};
use latchkey_store::SettingChange;
use serde_json::{Map, Value};

use super::{BaseSettings, DEFAULT_LOCALE, EditableSettings, SettingsInForce, SettingsPatch};
use crate::error::{Error, Result};

/// Maximum length in bytes of a value in an audit event, as JSON.
const LONGEST_TOLD: usize = 2_048;

/// An editable setting, with its value in force.
#[derive(Debug, Clone)]
pub struct EditableSetting {
    pub item: &'static Item,
    /// What it does: the documentation, which neighbouring settings may share.
    pub about: String,
    pub value: Value,
    /// The default, as in the settings file.
    pub default: String,
    /// The value of the default.
    usual: Value,
    /// The words of a choice; empty for other kinds.
    pub choices: Vec<String>,
    pub source: Source,
}

/// A text that is no value of the setting. The sentence says what is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be {0}")]
pub struct InvalidSetting(String);

impl EditableSetting {
    /// Formats the value as the field of a form has it: a list with an entry a line.
    #[must_use]
    pub fn text(&self) -> String {
        text_of(&self.value)
    }

    /// Formats the default as the field of a form has it.
    #[must_use]
    pub fn default_text(&self) -> String {
        text_of(&self.usual)
    }

    /// Reads a text from a form; returns the change that it asks for.
    pub fn change(&self, text: &str) -> Result<SettingsPatch, InvalidSetting> {
        let invalid = || InvalidSetting(self.item.kind.to_string());
        let value = self.read(text).ok_or_else(invalid)?;
        let mut patch = SettingsPatch::default();
        if patch.read(self.item.name, &value) { Ok(patch) } else { Err(invalid()) }
    }

    fn read(&self, text: &str) -> Option<Value> {
        Some(match self.item.kind {
            Kind::Boolean => Value::from(text.parse::<bool>().ok()?),
            Kind::Integer { from, to } => {
                let number = text.trim().parse::<u64>().ok()?;
                Value::from(Some(number).filter(|number| (from..=to).contains(number))?)
            }
            Kind::List => text.lines().map(str::trim).filter(|line| !line.is_empty()).collect(),
            _ if text.trim().is_empty() && self.is_optional() => Value::Null,
            _ => Value::from(text.trim()),
        })
    }

    /// True if the setting may have no value.
    fn is_optional(&self) -> bool {
        self.default == "\"\""
    }
}

/// Formats a value as the field of a form has it.
fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

impl BaseSettings {
    /// Lists the editable settings in their order. `locales` are the languages of mails.
    pub(crate) fn list(&self, in_force: &SettingsInForce, locales: &[Locale]) -> Vec<EditableSetting> {
        let (values, defaults) = (SettingsPatch::of(&in_force.values), SettingsPatch::of(&self.values));
        let mut about = String::new();
        let one = |((item, value), (_, usual)): ((&'static Item, Value), (_, Value))| {
            if !item.doc.is_empty() {
                about = item.doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
            }
            let pinned = self.pinned.get(item.name).cloned();
            let written = match (&pinned, item.fallback) {
                (_, Fallback::Fixed(text)) => text.to_owned(),
                (Some(_), Fallback::Unset(example) | Fallback::Derived(_, example)) => example.to_owned(),
                (None, _) => usual.to_string(),
            };
            let unpinned = if in_force.stored.contains(item.name) { Source::Admin } else { Source::Default };
            EditableSetting {
                item,
                about: about.clone(),
                value,
                default: written,
                usual,
                choices: choices(item, locales),
                source: pinned.unwrap_or(unpinned),
            }
        };
        values.named().into_iter().zip(defaults.named()).map(one).collect()
    }

    /// Returns the values of changed settings before and after the change, by key, for the audit log. Secret and long values
    /// are left out.
    pub(crate) fn told(
        &self,
        current: &EditableSettings,
        changes: &[SettingChange],
    ) -> (Map<String, Value>, Map<String, Value>) {
        let (values, defaults) = (SettingsPatch::of(current), SettingsPatch::of(&self.values));
        let (mut before, mut after) = (Map::new(), Map::new());
        for ((item, old), (_, default)) in values.named().into_iter().zip(defaults.named()) {
            let change = changes.iter().find(|change| change.key == item.name);
            let Some(change) = change.filter(|_| !item.kind.is_sensitive()) else { continue };
            let new = change.value.clone().unwrap_or(default);
            for (values, value) in [(&mut before, old), (&mut after, new)] {
                if value.to_string().len() <= LONGEST_TOLD {
                    values.insert(item.name.to_owned(), value);
                }
            }
        }
        (before, after)
    }

    /// Validates that a setting gets its default again; returns the row to store.
    pub(crate) fn accept_reset(&self, current: &EditableSettings, item: &Item) -> Result<SettingChange> {
        if self.pinned.contains_key(item.name) {
            return Err(Error::setting_pinned(item.field.unwrap_or(item.name)));
        }
        let mut patch = SettingsPatch::of(&self.values);
        for other in EditableSettings::ITEMS.iter().filter(|other| other.name != item.name) {
            patch.forget(other.name);
        }
        self.check(patch.over(current))?;
        Ok(SettingChange { key: item.name.to_owned(), value: None })
    }
}

fn choices(item: &Item, locales: &[Locale]) -> Vec<String> {
    match item.kind {
        Kind::Choice(words) => words.iter().map(|word| (*word).to_owned()).collect(),
        _ if item.name == DEFAULT_LOCALE => locales.iter().map(|locale| locale.as_str().to_owned()).collect(),
        _ => Vec::new(),
    }
}
