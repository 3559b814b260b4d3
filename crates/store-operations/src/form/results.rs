//! Results of a script, addressed by the [`Slot`] of each statement.

use latchkey_domain::limits::Limited;
use latchkey_store::StoreResult;

use super::{Cells, Row, Slot};

/// Results of a script's statements.
pub struct Results<'a>(&'a dyn ResultSource);

/// Results that an engine holds for one script. An engine may execute a read only when its rows are requested.
pub trait ResultSource {
    /// Calls `each` with the rows of a statement, one after another, until `each` returns `false`.
    fn rows(&self, slot: Slot, each: &mut dyn FnMut(&dyn Row) -> StoreResult<bool>) -> StoreResult<()>;
    fn affected(&self, slot: Slot) -> StoreResult<u64>;
    fn taken(&self, slot: Slot) -> StoreResult<Taken>;
}

/// Outcome of taking tokens from the token buckets of rate limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    Yes,
    /// Nothing was taken, because the condition [`super::script::TakeRequest::only_for`] does not hold: the
    /// session is not live, or its user has another address.
    No,
    /// Nothing was taken, because this bucket is empty.
    Limited(Limited),
}

impl<'a> Results<'a> {
    #[must_use]
    pub fn new(source: &'a dyn ResultSource) -> Self {
        Self(source)
    }

    /// Decodes the first row of a statement; `None` if there are no rows.
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

    pub fn any(&self, slot: Slot) -> StoreResult<bool> {
        Ok(self.find(slot, |_| Ok(()))?.is_some())
    }

    pub fn affected(&self, slot: Slot) -> StoreResult<u64> {
        self.0.affected(slot)
    }

    pub fn taken(&self, slot: Slot) -> StoreResult<Taken> {
        self.0.taken(slot)
    }

    /// Returns the rate limit whose bucket was empty; `None` if no bucket was empty.
    pub fn limited(&self, slot: Slot) -> StoreResult<Option<Limited>> {
        Ok(match self.taken(slot)? {
            Taken::Limited(limited) => Some(limited),
            Taken::Yes | Taken::No => None,
        })
    }
}
