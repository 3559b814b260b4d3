//! Durations by place in the code, such as the methods of the storage contract. A place is a static, so recording looks
//! nothing up.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::cell::{Cell, Times};
use crate::page::{About, Kind, Page, label};

/// Maximum number of names. The last one is that of all further places.
const MOST: usize = 192;
const OTHER: &str = "other";

/// Names of the places that ran in this process, by position.
static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// A place in the code.
#[derive(Debug)]
pub struct Site {
    name: &'static str,
    position: OnceLock<usize>,
}

impl Site {
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, position: OnceLock::new() }
    }

    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    fn position(&self) -> usize {
        *self.position.get_or_init(|| {
            let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
            let known = names.iter().position(|known| *known == self.name);
            known.unwrap_or_else(|| {
                let name = if names.len() + 1 < MOST { self.name } else { OTHER };
                if names.last() != Some(&OTHER) {
                    names.push(name);
                }
                names.len() - 1
            })
        })
    }
}

/// Durations by [`Site`].
#[derive(Debug)]
pub struct Sites {
    about: About,
    label: &'static str,
    times: Box<[Times]>,
}

impl Sites {
    #[must_use]
    pub fn new(about: About, label: &'static str) -> Self {
        Self { about, label, times: std::iter::repeat_with(Times::default).take(MOST).collect() }
    }

    pub fn record(&self, site: &Site, time: Duration) {
        self.times[site.position()].record(time);
    }

    pub fn write(&self, page: &mut Page) {
        let names = NAMES.lock().unwrap_or_else(PoisonError::into_inner).clone();
        page.begin(self.about, Kind::Summary);
        for (name, times) in names.iter().zip(&self.times).filter(|(_, times)| !times.is_untouched()) {
            times.write(page, &label(self.label, name));
        }
    }

    #[must_use]
    pub const fn most_series(&self) -> usize {
        MOST * Times::SERIES
    }
}
