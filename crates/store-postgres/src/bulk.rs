//! A database as the target of a copy: what it must be like, and writing whole tables row by row. What rows and
//! tables are is said in [`latchkey_store_operations::bulk`].
//!
//! While a copy is under way the table `unfinished_copy` stands in the database: it holds what is to come, so that
//! only the same source goes on with it, and no service starts on it. How far the copy came is seen from the rows
//! themselves: they are written in the order of their keys, in short transactions.

mod rows;
mod statements;

use latchkey_store::{StoreError, UniqueKey};
use latchkey_store_operations::bulk::{Cell, Digest, Key, Row, Table, TableDigest};
use latchkey_store_operations::tables::TABLES;
use tokio_postgres::error::SqlState;

use crate::errors::{EngineFault, Fault, ServerFault, driver};
use crate::migrations::IS_COPY_BEGUN;
use crate::options::PostgresOptions;
use crate::script::Script;
use crate::store::{Postgres, PostgresStore};
use crate::transact::Step;
use crate::values::values;

/// Why a copy does not begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// It is no empty database.
    #[error("the table {0} is not empty: give the copy a database of its own")]
    NotEmpty(String),
    /// It holds the beginning of another copy.
    #[error(
        "the database holds an unfinished copy of another source, or the source was written to since: \
         make the database anew and begin again"
    )]
    OtherSource,
    /// Somebody else writes into it.
    #[error("somebody else writes into {0}: let one copy run alone")]
    Crowded(&'static str),
    /// PostgreSQL has no such text.
    #[error(
        "{row}: the column {column} holds U+0000, which PostgreSQL cannot keep: mend it in the source, then copy again"
    )]
    NullCharacter {
        /// Which row.
        row: String,
        /// Which column.
        column: &'static str,
    },
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Fault> for TargetError {
    fn from(fault: Fault) -> Self {
        Self::Store(fault.into())
    }
}

/// What every table of the source holds.
pub type CopyPlan = [(&'static Table, TableDigest)];

/// Whether a copy begins or goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyStart {
    /// Nothing was copied yet.
    New,
    /// An earlier run was interrupted.
    GoesOn,
}

/// A database into which an instance is copied.
pub struct CopyTarget {
    store: PostgresStore,
}

impl CopyTarget {
    /// Connects, and makes the schema where it is missing.
    pub async fn open(options: PostgresOptions) -> Result<Self, TargetError> {
        let store = Postgres::connect(options).await?;
        store.migrate_for_copy().await?;
        Ok(Self { store })
    }

    /// Whether these rows can be kept.
    pub fn check(table: &Table, rows: &[Row]) -> Result<(), TargetError> {
        let has_null = |cell: &Cell| matches!(cell, Cell::Text(text) if text.contains('\0'));
        for row in rows {
            if let Some(at) = row.iter().position(has_null) {
                let column = table.columns[at].name;
                return Err(TargetError::NullCharacter { row: table.name_of(row), column });
            }
        }
        Ok(())
    }

    /// Begins a copy in an empty database, or goes on with one of the same source.
    pub async fn begin(&self, plan: &CopyPlan) -> Result<CopyStart, TargetError> {
        if self.is_begun().await? {
            return self.compare(plan).await;
        }
        let mut reads = Script::default();
        let turn = reads.add(statements::TAKE_TURN, Vec::new());
        let filled = reads.add(statements::find_filled(), Vec::new());
        let begun = self.store.transact_script(&reads, |answers| {
            if answers.at(turn).rows.is_empty() {
                return Err(driver(EngineFault::NoRow).into());
            }
            if let Some(name) = answers.at(filled).find(|cells| cells.text("name").map(str::to_owned))? {
                return Ok(Step::Answer(Err(TargetError::NotEmpty(name))));
            }
            Ok(Step::done(beginning(plan), Ok(())))
        });
        match begun.await {
            // Another copy began in the same moment.
            Err(error) if is(&error, &SqlState::DUPLICATE_TABLE) => self.compare(plan).await,
            outcome => outcome?.map(|()| CopyStart::New),
        }
    }

    /// The greatest key of a table that is there: everything up to it was copied. Counting would take longer, the more
    /// there is; the source can say how many rows that are.
    pub async fn copied(&self, table: &'static Table) -> Result<Option<Key>, TargetError> {
        let last = self.store.ask(statements::find_last(table), Vec::new()).await?;
        Ok(last.rows.first().map(|row| rows::read(table, &table.columns[..table.key], row)).transpose()?)
    }

    /// Writes rows that are not there yet: all or none.
    pub async fn append(&self, table: &'static Table, rows: &[Row]) -> Result<(), TargetError> {
        let script = Script::of(statements::insert(table), rows::columns(table, rows));
        match self.store.write_script(&script).await {
            Ok(_) => Ok(()),
            Err(StoreError::Conflict(UniqueKey::UserEmail | UniqueKey::Username)) => {
                Err(TargetError::Crowded(table.name))
            }
            Err(error) if is(&error, &SqlState::UNIQUE_VIOLATION) => Err(TargetError::Crowded(table.name)),
            // The connection was lost, and the commit had come through.
            Err(StoreError::Unavailable(_)) if self.holds(table, rows).await? => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The digest of a table; the number of rows of every batch is told to `see` on the way.
    pub async fn digest(
        &self,
        table: &'static Table,
        batch: u32,
        mut see: impl FnMut(usize),
    ) -> Result<TableDigest, TargetError> {
        let mut digest = Digest::new(table);
        let mut after: Option<Key> = None;
        loop {
            let rows = self.rows(table, after.as_ref(), batch).await?;
            let Some(last) = rows.last() else { return Ok(digest.finish()) };
            see(rows.len());
            digest.add(&rows);
            after = Some(last[..table.key].to_vec());
        }
    }

    /// Ends a copy that was found to be whole: from now on a service may start on it.
    pub async fn finish(&self) -> Result<(), TargetError> {
        let mut writes = Script::of(statements::DROP_PLAN, Vec::new());
        writes.add(statements::EMPTY_FEED, Vec::new());
        writes.add(statements::SKIP_FEED, Vec::new());
        match self.store.write_script(&writes).await {
            // The connection was lost, and the commit had come through.
            Err(StoreError::Unavailable(_)) if !self.is_begun().await? => Ok(()),
            outcome => Ok(outcome.map(|_| ())?),
        }
    }

    async fn is_begun(&self) -> Result<bool, TargetError> {
        let answer = self.store.ask(IS_COPY_BEGUN, Vec::new()).await?;
        Ok(answer.find(|cells| cells.flag("is_begun"))?.unwrap_or_default())
    }

    /// Compares what an earlier run found in its source.
    async fn compare(&self, plan: &CopyPlan) -> Result<CopyStart, TargetError> {
        let answer = self.store.ask(statements::LIST_PLAN, Vec::new()).await?;
        let mut found: Vec<(String, i64, Vec<u8>)> = answer
            .list(|cells| Ok((cells.text("name")?.to_owned(), cells.int("rows")?, cells.bytes("hash")?)))?;
        let mut wanted: Vec<_> = plan.iter().map(plan_row).collect();
        found.sort_unstable();
        wanted.sort_unstable();
        if found == wanted { Ok(CopyStart::GoesOn) } else { Err(TargetError::OtherSource) }
    }

    async fn rows(
        &self,
        table: &'static Table,
        after: Option<&Key>,
        limit: u32,
    ) -> Result<Vec<Row>, TargetError> {
        let keys = after.map(Vec::as_slice).unwrap_or_default().iter().map(rows::parameter);
        let answer = self.store.ask(statements::page(table, after.is_some(), limit), keys.collect()).await?;
        let rows = answer.rows.iter().map(|row| rows::read(table, table.columns, row));
        Ok(rows.collect::<Result<_, Fault>>()?)
    }

    /// Whether the last of these rows is there.
    async fn holds(&self, table: &'static Table, rows: &[Row]) -> Result<bool, TargetError> {
        let Some(last) = rows.last() else { return Ok(false) };
        let keys = last[..table.key].iter().map(rows::parameter).collect();
        Ok(!self.store.ask(statements::find(table), keys).await?.rows.is_empty())
    }
}

fn is(error: &StoreError, code: &SqlState) -> bool {
    ServerFault::code_of(error) == Some(code)
}

/// Makes the table of the plan, and takes away the rows of the migrations: those of the source come.
fn beginning(plan: &CopyPlan) -> Script {
    let mut script = Script::of(statements::CREATE_PLAN, Vec::new());
    for (table, digest) in plan {
        let (name, rows, hash) = plan_row(&(*table, digest.clone()));
        script.add(statements::ADD_TO_PLAN, values![name, rows, hash]);
    }
    for table in TABLES.iter().filter(|table| table.is_seeded) {
        script.add(format!("DELETE FROM {}", table.name), Vec::new());
    }
    script
}

fn plan_row((table, digest): &(&'static Table, TableDigest)) -> (String, i64, Vec<u8>) {
    (table.name.to_owned(), i64::try_from(digest.rows).unwrap_or(i64::MAX), digest.hash.to_vec())
}

/// Columns that are made of others when a row is written: table, column, type.
const DERIVED: &[(&str, &str, &str)] = &[("profiles", "trigrams", "INTEGER[]")];

/// What is derived in a table.
fn derived(table: &Table) -> Option<(&'static str, &'static str)> {
    let found = DERIVED.iter().find(|(name, _, _)| *name == table.name)?;
    Some((found.1, found.2))
}
