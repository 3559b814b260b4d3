//! Scripts for the driver: statements that are sent in one round trip, and their results. The scripts of operations
//! are in [`latchkey_store_operations::form`].

use std::borrow::Cow;

use latchkey_store::StoreResult;
use latchkey_store_operations::form::Cells;
use tokio_postgres::Row;

use crate::errors::{EngineFault, Fallible, driver};
use crate::rows::PostgresRow;
use crate::values::Value;

pub(crate) struct Statement {
    pub(crate) sql: Cow<'static, str>,
    pub(crate) values: Vec<Value>,
}

/// Statements that are sent together and executed in order.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) statements: Vec<Statement>,
}

/// Handle of a statement in a script, by which its result is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(usize);

impl Script {
    pub(crate) fn add(&mut self, sql: impl Into<Cow<'static, str>>, values: Vec<Value>) -> Slot {
        self.statements.push(Statement { sql: sql.into(), values });
        Slot(self.statements.len() - 1)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    pub(crate) fn of(sql: impl Into<Cow<'static, str>>, values: Vec<Value>) -> Self {
        let mut script = Self::default();
        script.add(sql, values);
        script
    }
}

#[derive(Default)]
pub(crate) struct Output {
    pub(crate) rows: Vec<Row>,
    /// Number of rows that the statement changed; for a query, the number of rows that it returned.
    pub(crate) affected: u64,
}

impl Output {
    /// Decodes the first row, if there is one.
    pub(crate) fn find<T>(
        &self,
        read: impl FnOnce(&mut Cells<'_>) -> StoreResult<T>,
    ) -> StoreResult<Option<T>> {
        self.rows.first().map(|row| read(&mut Cells::new(&PostgresRow(row)))).transpose()
    }

    pub(crate) fn list<T>(
        &self,
        mut read: impl FnMut(&mut Cells<'_>) -> StoreResult<T>,
    ) -> StoreResult<Vec<T>> {
        self.rows.iter().map(|row| read(&mut Cells::new(&PostgresRow(row)))).collect()
    }
}

/// Results of a script's statements.
#[derive(Default)]
pub(crate) struct Outputs(Vec<Output>);

impl Outputs {
    /// Wraps the results, given in the order of the statements.
    pub(crate) const fn new(outputs: Vec<Output>) -> Self {
        Self(outputs)
    }

    /// Returns the result of a script's only statement.
    pub(crate) fn take_first(&mut self) -> Fallible<Output> {
        self.0.pop().ok_or_else(|| driver(EngineFault::NoRow).into())
    }

    pub(crate) fn at(&self, slot: Slot) -> &Output {
        &self.0[slot.0]
    }

    pub(crate) fn affected(&self, slot: Slot) -> u64 {
        self.at(slot).affected
    }
}
