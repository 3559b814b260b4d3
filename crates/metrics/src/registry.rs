//! The list of all families of a process.

use std::sync::{Arc, Mutex, PoisonError};

use crate::page::{Format, Page};

/// A part of the process that has metrics.
pub trait Collect: Send + Sync {
    /// Writes all families of the part.
    fn collect(&self, page: &mut Page);

    /// Returns the largest number of series that the part can have, whatever clients do.
    fn most_series(&self) -> usize;
}

/// The parts of the process that have metrics, in the order in which they were added.
#[derive(Default)]
pub struct Registry(Mutex<Vec<Arc<dyn Collect>>>);

impl Registry {
    pub fn add(&self, part: Arc<dyn Collect>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(part);
    }

    fn parts(&self) -> Vec<Arc<dyn Collect>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes the exposition. Reads no database.
    #[must_use]
    pub fn expose(&self, format: Format) -> String {
        let mut page = Page::new(format);
        for part in self.parts() {
            part.collect(&mut page);
        }
        page.finish()
    }

    #[must_use]
    pub fn most_series(&self) -> usize {
        self.parts().iter().map(|part| part.most_series()).sum()
    }
}
