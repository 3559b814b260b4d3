//! Results of a script, found by the slots of its statements.

use latchkey_domain::limits::Limited;
use latchkey_store::StoreResult;

use super::{Cells, Row, Slot};

/// The results of a script.
pub struct Results<'a>(&'a dyn ResultSource);

/// An engine's results of one script. It may run a read only when it is asked for.
pub trait ResultSource {
    /// Calls `each` for the rows of a statement, until it answers `false`.
    fn rows(&self, slot: Slot, each: &mut dyn FnMut(&dyn Row) -> StoreResult<bool>) -> StoreResult<()>;
    /// The number of rows that a change touched.
    fn affected(&self, slot: Slot) -> StoreResult<u64>;
    /// The outcome of a take.
    fn taken(&self, slot: Slot) -> StoreResult<Taken>;
}

/// The outcome of taking tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// All were taken.
    Yes,
    /// None was taken: the session that they were for is not as it was said to be.
    No,
    /// None was taken: this bucket is empty.
    Limited(Limited),
}

impl<'a> Results<'a> {
    /// Takes an engine's results.
    #[must_use]
    pub fn new(source: &'a dyn ResultSource) -> Self {
        Self(source)
    }

    /// The first row of a statement, if there is one.
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

    /// Whether a statement yields a row.
    pub fn any(&self, slot: Slot) -> StoreResult<bool> {
        Ok(self.find(slot, |_| Ok(()))?.is_some())
    }

    /// The number of rows that a change touched.
    pub fn affected(&self, slot: Slot) -> StoreResult<u64> {
        self.0.affected(slot)
    }

    /// The outcome of a take.
    pub fn taken(&self, slot: Slot) -> StoreResult<Taken> {
        self.0.taken(slot)
    }

    /// The refusal of a take, if it was refused for an empty bucket.
    pub fn limited(&self, slot: Slot) -> StoreResult<Option<Limited>> {
        Ok(match self.taken(slot)? {
            Taken::Limited(limited) => Some(limited),
            Taken::Yes | Taken::No => None,
        })
    }
}
