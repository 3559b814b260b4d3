//! What an operation sends and what comes back. A script is a list of statements that go to the server together, in
//! one round trip; the answers are found by the slots that adding a statement gave.

use std::borrow::Cow;

use latchkey_store::StoreResult;
use latchkey_store_operations::form::Cells;
use tokio_postgres::Row;

use crate::errors::{EngineFault, Fallible, driver};
use crate::rows::PostgresRow;
use crate::values::Value;

/// A statement and its parameters.
pub(crate) struct Statement {
    pub(crate) sql: Cow<'static, str>,
    pub(crate) values: Vec<Value>,
}

/// Statements that go to the server together and run in their order.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) statements: Vec<Statement>,
}

/// Where the answer to a statement of a script is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(usize);

impl Script {
    /// Adds a statement at the end.
    pub(crate) fn add(&mut self, sql: impl Into<Cow<'static, str>>, values: Vec<Value>) -> Slot {
        self.statements.push(Statement { sql: sql.into(), values });
        Slot(self.statements.len() - 1)
    }

    /// Whether there is nothing to send.
    pub(crate) const fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    /// A script of one statement.
    pub(crate) fn of(sql: impl Into<Cow<'static, str>>, values: Vec<Value>) -> Self {
        let mut script = Self::default();
        script.add(sql, values);
        script
    }
}

/// What one statement yielded.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) rows: Vec<Row>,
    /// Rows changed, or rows yielded where nothing was changed.
    pub(crate) affected: u64,
}

impl Answer {
    /// The first row, if there is one.
    pub(crate) fn find<T>(
        &self,
        read: impl FnOnce(&mut Cells<'_>) -> StoreResult<T>,
    ) -> StoreResult<Option<T>> {
        self.rows.first().map(|row| read(&mut Cells::new(&PostgresRow(row)))).transpose()
    }

    /// All rows.
    pub(crate) fn list<T>(
        &self,
        mut read: impl FnMut(&mut Cells<'_>) -> StoreResult<T>,
    ) -> StoreResult<Vec<T>> {
        self.rows.iter().map(|row| read(&mut Cells::new(&PostgresRow(row)))).collect()
    }
}

/// What the statements of a script yielded.
#[derive(Default)]
pub(crate) struct Answers(Vec<Answer>);

impl Answers {
    /// Takes the answers in the order of the statements.
    pub(crate) const fn new(answers: Vec<Answer>) -> Self {
        Self(answers)
    }

    /// The answer of a script's only statement.
    pub(crate) fn take_first(&mut self) -> Fallible<Answer> {
        self.0.pop().ok_or_else(|| driver(EngineFault::NoRow).into())
    }

    /// The answer to a statement.
    pub(crate) fn at(&self, slot: Slot) -> &Answer {
        &self.0[slot.0]
    }

    /// How many rows a statement changed.
    pub(crate) fn affected(&self, slot: Slot) -> u64 {
        self.at(slot).affected
    }
}
