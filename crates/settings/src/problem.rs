//! Problems of settings, reported as sentences.

use std::collections::BTreeSet;
use std::fmt;

use crate::item::{PREFIX, key_of_variable};
use crate::source::Source;

/// Problem of the settings: its place, and a sentence that ends with the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    place: String,
    sentence: String,
}

impl Problem {
    /// Makes a problem. The sentence must contain the remedy.
    #[must_use]
    pub fn new(place: &str, sentence: impl Into<String>) -> Self {
        Self { place: place.to_owned(), sentence: sentence.into() }
    }

    /// Returns the place of the problem: a key (`section.key`, perhaps with its source), an environment variable, or a
    /// file.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Returns the key of the setting, without its source. For a problem of a file it is the place itself.
    #[must_use]
    pub fn key(&self) -> String {
        let place = self.place.split(" (").next().unwrap_or_default();
        if place.starts_with(PREFIX) { key_of_variable(place) } else { place.to_owned() }
    }

    /// Returns the remedy: the last clause of the sentence.
    #[must_use]
    pub fn remedy(&self) -> String {
        if let Some((_, remedy)) = self.sentence.rsplit_once("; ") {
            return remedy.to_owned();
        }
        match self.sentence.rsplit_once(", wanted ") {
            Some((_, wanted)) => format!("set it to {wanted}"),
            None => format!("correct {}; `latchkey config check` says when it is good", self.place),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.sentence)
    }
}

/// Error with all problems of the settings; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    problems: Vec<Problem>,
}

impl SettingsError {
    /// Returns the problems, in the order of the sources and then of the sections.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl From<Problem> for SettingsError {
    fn from(problem: Problem) -> Self {
        Self::from(vec![problem])
    }
}

impl From<Vec<Problem>> for SettingsError {
    fn from(problems: Vec<Problem>) -> Self {
        Self { problems }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("The settings cannot be used:")?;
        for problem in &self.problems {
            write!(f, "\n- {problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SettingsError {}

/// Collector of problems and warnings. It knows the keys with bad values, so that rules that depend on them are
/// skipped.
#[derive(Debug, Default)]
pub struct Problems {
    list: Vec<Problem>,
    notices: Vec<String>,
    bad: BTreeSet<&'static str>,
}

impl Problems {
    pub fn warn(&mut self, sentence: String) {
        self.notices.push(sentence);
    }

    /// Adds a problem at a place that is no known key, such as a file.
    pub fn at(&mut self, place: &str, sentence: impl Into<String>) {
        self.list.push(Problem::new(place, sentence));
    }

    /// Adds a problem with the value of a key.
    pub fn value(&mut self, key: &'static str, source: &Source, sentence: &str) {
        self.bad.insert(key);
        self.list.push(Problem::new(&format!("{key} ({source})"), sentence));
    }

    /// Adds a violated rule between keys, with the first key as its place. Does nothing if one of the keys has a bad
    /// value.
    pub fn rule(&mut self, keys: &[&'static str], sentence: impl Into<String>) {
        let Some(first) = keys.first() else { return };
        if !keys.iter().any(|key| self.bad.contains(key)) {
            self.list.push(Problem::new(first, sentence));
        }
    }

    /// Removes the problems of the keys for which the function returns true.
    pub fn leave_out(&mut self, is_left_out: impl Fn(&str) -> bool) {
        self.list.retain(|problem| !is_left_out(&problem.key()));
    }

    /// Splits the collection into warnings and problems.
    #[must_use]
    pub fn into_parts(self) -> (Vec<String>, Vec<Problem>) {
        (self.notices, self.list)
    }
}
