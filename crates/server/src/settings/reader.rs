//! Hands the merged values to the sections, typed.

use std::fmt::Display;
use std::time::Duration;

use latchkey_domain::limits::Rate;

use super::address;
use super::entry::{Entries, Value};
use super::problem::Problems;
use super::secret::Secret;

/// The merged values. A value of a type that the section did not ask for reads as not set; the
/// test that reads all defaults would show it.
pub(super) struct Reader<'a> {
    entries: &'a mut Entries,
    problems: &'a mut Problems,
}

impl<'a> Reader<'a> {
    pub(super) fn new(entries: &'a mut Entries, problems: &'a mut Problems) -> Self {
        Self { entries, problems }
    }

    fn value(&self, key: &'static str) -> Option<&Value> {
        self.entries.get(key).map(|entry| &entry.value)
    }

    /// The names of the keys that are set and begin so.
    pub(super) fn names_under(&self, prefix: &str) -> Vec<&'static str> {
        self.entries.keys().copied().filter(|name| name.starts_with(prefix)).collect()
    }

    /// The text, empty where it is not set.
    pub(super) fn text(&self, key: &'static str) -> &str {
        match self.value(key) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// The text unless it is not set or empty.
    pub(super) fn optional_text(&self, key: &'static str) -> Option<String> {
        Some(self.text(key)).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    pub(super) fn flag(&self, key: &'static str) -> bool {
        matches!(self.value(key), Some(Value::Boolean(true)))
    }

    /// A number; the table of keys keeps it within the bounds of `T`.
    pub(super) fn number<T: TryFrom<u64> + Default>(&self, key: &'static str) -> T {
        match self.value(key) {
            Some(Value::Integer(number)) => T::try_from(*number).unwrap_or_default(),
            _ => T::default(),
        }
    }

    pub(super) fn list(&self, key: &'static str) -> Vec<String> {
        match self.value(key) {
            Some(Value::List(items)) => items.clone(),
            _ => Vec::new(),
        }
    }

    pub(super) fn duration(&self, key: &'static str) -> Duration {
        match self.value(key) {
            Some(Value::Duration(duration)) => *duration,
            _ => Duration::ZERO,
        }
    }

    pub(super) fn rate(&self, key: &'static str) -> Rate {
        match self.value(key) {
            Some(Value::Rate(rate)) => *rate,
            _ => Rate { burst: 1, window: Duration::from_secs(1) },
        }
    }

    /// Moves the secret out, so that there is no second copy. Empty is not set.
    pub(super) fn take_secret(&mut self, key: &'static str) -> Option<Secret> {
        let entry = self.entries.get_mut(key)?;
        match &mut entry.value {
            Value::Secret(secret) => {
                let taken = std::mem::replace(secret, Secret::new(String::new()));
                Some(taken).filter(|secret| !secret.reveal().is_empty())
            }
            _ => None,
        }
    }

    /// Parses the text of a key; `None` where it is not set, or bad (which is then told).
    pub(super) fn parse<T, E: Display>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let text = self.optional_text(key)?;
        match parse(&text) {
            Ok(value) => Some(value),
            Err(error) => {
                self.refuse(key, &format!("found {}; {error}", shown(&text)));
                None
            }
        }
    }

    /// Parses every item of a list; the bad ones are told and left out.
    pub(super) fn parse_list<T, E: Display>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Vec<T> {
        let mut good = Vec::new();
        for item in self.list(key) {
            match parse(&item) {
                Ok(value) => good.push(value),
                Err(error) => self.refuse(key, &format!("found {}; {error}", shown(&item))),
            }
        }
        good
    }

    /// The value of this key is bad. The sentence says why and what to do.
    pub(super) fn refuse(&mut self, key: &'static str, sentence: &str) {
        match self.entries.get(key) {
            Some(entry) => self.problems.value(key, &entry.source, sentence),
            None => self.problems.rule(&[key], sentence),
        }
    }

    /// A rule is broken, or a required key missing. The first key names the place; where one of
    /// them is bad itself, that is told already and this is not.
    pub(super) fn rule(&mut self, keys: &[&'static str], sentence: &str) {
        self.problems.rule(keys, sentence);
    }
}

/// A bad value in quotes, unless it looks like a URL with a password in it.
fn shown(text: &str) -> String {
    let may_hold_password = text.contains("://") && (text.contains('@') || address::holds_password(text));
    if may_hold_password { "a URL with user information".to_owned() } else { format!("{text:?}") }
}
