//! Typed access to the merged values of the settings.

use std::fmt::Display;
use std::time::Duration;

use latchkey_domain::limits::Rate;

use crate::address;
use crate::problem::Problems;
use crate::secret::Secret;
use crate::value::{Entries, Value, text_of};

/// Typed access to the merged values. A value of another type than the requested one counts as not set. Bad values are
/// reported as problems.
pub struct Reader<'a> {
    /// Prefix that is added to every requested key.
    prefix: String,
    entries: &'a mut Entries,
    problems: &'a mut Problems,
}

impl<'a> Reader<'a> {
    /// Makes a reader of these values that reports to these problems.
    pub fn new(entries: &'a mut Entries, problems: &'a mut Problems) -> Self {
        Self { prefix: String::new(), entries, problems }
    }

    /// Calls `read` with this prefix added to every key.
    pub fn below<T>(&mut self, prefix: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        prefix.clone_into(&mut self.prefix);
        let value = read(self);
        self.prefix.clear();
        value
    }

    fn name(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    fn value(&self, key: &str) -> Option<&Value> {
        self.entries.get(self.name(key).as_str()).map(|entry| &entry.value)
    }

    /// True if a source or a default sets the key.
    #[must_use]
    pub fn is_set(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// Returns the keys with a value whose names start with the prefix.
    #[must_use]
    pub fn names_under(&self, prefix: &str) -> Vec<&'static str> {
        self.entries.keys().copied().filter(|name| name.starts_with(prefix)).collect()
    }

    /// Returns a text value; empty if the key is not set.
    #[must_use]
    pub fn text(&self, key: &str) -> &str {
        text_of(self.entries, &self.name(key))
    }

    /// Returns a text value; `None` if the key is not set or empty.
    pub fn optional_text(&self, key: &str) -> Option<String> {
        Some(self.text(key)).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Returns a boolean value; false if the key is not set.
    #[must_use]
    pub fn flag(&self, key: &str) -> bool {
        matches!(self.value(key), Some(Value::Boolean(true)))
    }

    /// Returns an integer value; zero if the key is not set. The bounds of the item keep it within the range of `T`.
    #[must_use]
    pub fn number<T: TryFrom<u64> + Default>(&self, key: &str) -> T {
        match self.value(key) {
            Some(Value::Integer(number)) => T::try_from(*number).unwrap_or_default(),
            _ => T::default(),
        }
    }

    /// Returns a list value; empty if the key is not set.
    #[must_use]
    pub fn list(&self, key: &str) -> Vec<String> {
        match self.value(key) {
            Some(Value::List(items)) => items.clone(),
            _ => Vec::new(),
        }
    }

    /// Returns a duration value; zero if the key is not set.
    #[must_use]
    pub fn duration(&self, key: &str) -> Duration {
        match self.value(key) {
            Some(Value::Duration(duration)) => *duration,
            _ => Duration::ZERO,
        }
    }

    /// Returns a rate value; one per second if the key is not set.
    #[must_use]
    pub fn rate(&self, key: &str) -> Rate {
        match self.value(key) {
            Some(Value::Rate(rate)) => *rate,
            _ => Rate { burst: 1, window: Duration::from_secs(1) },
        }
    }

    /// Moves the secret out of the values, so that no second copy stays in memory. `None` if the key is not set or
    /// empty.
    pub fn take_secret(&mut self, key: &str) -> Option<Secret> {
        let entry = self.entries.get_mut(self.name(key).as_str())?;
        match &mut entry.value {
            Value::Secret(secret) => {
                let taken = std::mem::replace(secret, Secret::new(String::new()));
                Some(taken).filter(|secret| !secret.reveal().is_empty())
            }
            _ => None,
        }
    }

    /// Parses a text value with a function. `None` if the key is not set, or if parsing fails, which is reported.
    pub fn parse<T, E: Display>(
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

    /// Parses every text of a list with a function. Texts that fail are reported and left out.
    pub fn parse_list<T, E: Display>(
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

    /// Reports a bad value. The sentence gives the reason and the remedy.
    pub fn refuse(&mut self, key: &'static str, sentence: &str) {
        match self.entries.get(key) {
            Some(entry) => self.problems.value(key, &entry.source, sentence),
            None => self.problems.rule(&[key], sentence),
        }
    }

    /// Reports a violated rule between keys, or a missing key, with the first of `keys` as its place. Does nothing if
    /// one of the keys has a bad value.
    pub fn rule(&mut self, keys: &[&'static str], sentence: &str) {
        self.problems.rule(keys, sentence);
    }
}

/// Quotes a bad value for a message, unless it looks like a URL with a password.
fn shown(text: &str) -> String {
    let may_hold_password = text.contains("://") && (text.contains('@') || address::holds_password(text));
    if may_hold_password { "a URL with user information".to_owned() } else { format!("{text:?}") }
}
