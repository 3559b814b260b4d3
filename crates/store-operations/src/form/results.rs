//! Results of a script, addressed by statement slots.

use latchkey_domain::limits::Limited;
use latchkey_store::StoreResult;

use super::{Cells, Row, Slot};

/// Results of a script.
pub struct Results<'a>(&'a dyn ResultSource);

/// An engine's results of one script. A read may be executed lazily, when its rows are requested.
pub trait ResultSource {
    /// Calls `each` for each row of a statement until it returns `false`.
    fn rows(&self, slot: Slot, each: &mut dyn FnMut(&dyn Row) -> StoreResult<bool>) -> StoreResult<()>;
    /// Number of rows affected by a change.
    fn affected(&self, slot: Slot) -> StoreResult<u64>;
    /// Outcome of a take.
    fn taken(&self, slot: Slot) -> StoreResult<Taken>;
}

/// Outcome of taking from token buckets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// All takes succeeded.
    Yes,
    /// Nothing was taken: the session is not live, or its user has another address.
    No,
    /// Nothing was taken: this bucket is empty.
    Limited(Limited),
}

impl<'a> Results<'a> {
    /// Wraps an engine's results.
    #[must_use]
    pub fn new(source: &'a dyn ResultSource) -> Self {
        Self(source)
    }

    /// First row of a statement, if any.
    pub fn find<T>(
        &self,
        slot: Slot,
        read: impl FnOnce(&mut Cells<'_>) -> StoreResult<T>,
    ) -> StoreResult<Option<T>> {
        let (mut read, mut found) = (Some(read), None);
        self.0.rows(slot, &mut |row| {
            if let Some(read) = read.take() {
                found = Some(read(&mut Cells::new(row))?);
            }
            Ok(false)
        })?;
        Ok(found)
    }

    /// All rows of a statement.
    pub fn list<T>(
        &self,
        slot: Slot,
        mut read: impl FnMut(&mut Cells<'_>) -> StoreResult<T>,
    ) -> StoreResult<Vec<T>> {
        let mut found = Vec::new();
        self.0.rows(slot, &mut |row| {
            found.push(read(&mut Cells::new(row))?);
            Ok(true)
        })?;
        Ok(found)
    }

    /// True if a statement returned a row.
    pub fn any(&self, slot: Slot) -> StoreResult<bool> {
        Ok(self.find(slot, |_| Ok(()))?.is_some())
    }

    /// Number of rows affected by a change.
    pub fn affected(&self, slot: Slot) -> StoreResult<u64> {
        self.0.affected(slot)
    }

    /// Outcome of a take.
    pub fn taken(&self, slot: Slot) -> StoreResult<Taken> {
        self.0.taken(slot)
    }

    /// Rate limit that refused a take, if a bucket was empty.
    pub fn limited(&self, slot: Slot) -> StoreResult<Option<Limited>> {
        Ok(match self.taken(slot)? {
            Taken::Limited(limited) => Some(limited),
            Taken::Yes | Taken::No => None,
        })
    }
}
