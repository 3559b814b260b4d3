//! Problems of settings, as sentences.

use std::collections::BTreeSet;
use std::fmt;

use crate::item::{PREFIX, key_of_variable};
use crate::source::Source;

/// A problem: its place, and a sentence with the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    place: String,
    sentence: String,
}

impl Problem {
    /// A problem at a place; the sentence contains the remedy.
    #[must_use]
    pub fn new(place: &str, sentence: impl Into<String>) -> Self {
        Self { place: place.to_owned(), sentence: sentence.into() }
    }

    /// The key (`section.key`), the variable or the file that it is about.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The key that it is about, without its source; the place itself where that is a file.
    #[must_use]
    pub fn key(&self) -> String {
        let place = self.place.split(" (").next().unwrap_or_default();
        if place.starts_with(PREFIX) { key_of_variable(place) } else { place.to_owned() }
    }

    /// The remedy: the end of the sentence.
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

/// All problems of the settings; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    problems: Vec<Problem>,
}

impl SettingsError {
    /// The problems, in the order of the sources and then of the sections.
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

/// Collects problems, and the keys that have one, so that no rule builds on a bad value.
#[derive(Debug, Default)]
pub struct Problems {
    list: Vec<Problem>,
    notices: Vec<String>,
    bad: BTreeSet<&'static str>,
}

impl Problems {
    /// Adds a warning.
    pub fn warn(&mut self, sentence: String) {
        self.notices.push(sentence);
    }

    /// Adds a problem at a place that is no known key.
    pub fn at(&mut self, place: &str, sentence: impl Into<String>) {
        self.list.push(Problem::new(place, sentence));
    }

    /// Adds a problem of a value.
    pub fn value(&mut self, key: &'static str, source: &Source, sentence: &str) {
        self.bad.insert(key);
        self.list.push(Problem::new(&format!("{key} ({source})"), sentence));
    }

    /// Adds a broken rule between keys, at the first of them, unless one of them is bad itself.
    pub fn rule(&mut self, keys: &[&'static str], sentence: impl Into<String>) {
        let Some(first) = keys.first() else { return };
        if !keys.iter().any(|key| self.bad.contains(key)) {
            self.list.push(Problem::new(first, sentence));
        }
    }

    /// Drops the problems of some keys.
    pub fn leave_out(&mut self, is_left_out: impl Fn(&str) -> bool) {
        self.list.retain(|problem| !is_left_out(&problem.key()));
    }

    /// The warnings and the problems.
    #[must_use]
    pub fn into_parts(self) -> (Vec<String>, Vec<Problem>) {
        (self.notices, self.list)
    }
}
