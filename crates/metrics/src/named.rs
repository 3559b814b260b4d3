//! Counters by a name that is met at run time, such as the key of a provider. The number of names is limited.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use latchkey_domain::words::Word;

use crate::cell::{Cell, Counter};
use crate::page::{About, Kind, Page, label};

/// Name of all that come after the limit.
const OTHER: &str = "other";

/// Counters by name and outcome.
#[derive(Debug)]
pub struct Named {
    about: About,
    label: &'static str,
    /// Texts of the second label, one per counter of a name; one empty text without a second label.
    outcomes: Vec<String>,
    /// Maximum number of names, `other` among them.
    most: usize,
    counters: RwLock<BTreeMap<Box<str>, Box<[Counter]>>>,
}

impl Named {
    /// Creates counters with the name as their only label.
    #[must_use]
    pub fn new(about: About, label: &'static str, most: usize) -> Self {
        Self { about, label, outcomes: vec![String::new()], most, counters: RwLock::default() }
    }

    /// Creates counters with the name and an outcome as labels.
    #[must_use]
    pub fn with_outcome<W: Word>(about: About, label: &'static str, most: usize) -> Self {
        let outcomes =
            W::ALL.iter().map(|word| format!(",{}", self::label("outcome", word.word()))).collect();
        Self { outcomes, ..Self::new(about, label, most) }
    }

    /// Counts one of this name. `outcome` is the position of the outcome among its words, 0 without outcomes.
    pub fn count(&self, name: &str, outcome: usize) {
        {
            let counters = self.counters.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(found) = counters.get(name) {
                found[outcome].count();
                return;
            }
        }
        let mut counters = self.counters.write().unwrap_or_else(PoisonError::into_inner);
        let has_room = counters.len() + 1 < self.most || counters.contains_key(name);
        let name = if has_room { name } else { OTHER };
        let new = || self.outcomes.iter().map(|_| Counter::default()).collect();
        counters.entry(name.into()).or_insert_with(new)[outcome].count();
    }

    pub fn write(&self, page: &mut Page) {
        let counters = self.counters.read().unwrap_or_else(PoisonError::into_inner);
        if counters.is_empty() {
            return;
        }
        page.begin(self.about, Kind::Counter);
        for (name, counters) in counters.iter() {
            let name = label(self.label, name);
            for (outcome, counter) in self.outcomes.iter().zip(counters) {
                counter.write(page, &format!("{name}{outcome}"));
            }
        }
    }

    #[must_use]
    pub fn most_series(&self) -> usize {
        self.most * self.outcomes.len()
    }
}
