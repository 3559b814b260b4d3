//! Target database of `latchkey copy`: checks before the copy, and writing of whole tables in batches of
//! rows. [`latchkey_store_operations::bulk`] describes the tables and rows.
//!
//! During a copy, the table `unfinished_copy` stores the digest that every table has in the source. Thus only
//! a copy of the same data can be resumed, and no service starts on a partly filled database. Rows are
//! written in the order of their keys, in short transactions, so the greatest key in a table tells how far
//! the copy got.

mod rows;
mod statements;

use latchkey_store::{StoreError, UniqueKey};
use latchkey_store_operations::bulk::{Cell, Digest, Key, Row, Table, TableDigest};
use latchkey_store_operations::tables::TABLES;
use tokio_postgres::error::SqlState;

use crate::errors::{EngineFault, Fault, ServerFault, driver};
use crate::migrations::IS_COPY_BEGUN;
use crate::options::{PostgresOptions, Prepared};
use crate::script::Script;
use crate::store::{Postgres, PostgresStore};
use crate::transact::Decision;
use crate::values::values;

/// Reason why a copy is refused or aborted.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The database is not empty. The value is the name of a table with rows.
    #[error("the table {0} is not empty: give the copy a database of its own")]
    NotEmpty(String),
    /// The database holds an unfinished copy of another source, or the source was changed after that copy began.
    #[error(
        "the database holds an unfinished copy of another source, or the source was written to since: \
         recreate the database and start again"
    )]
    OtherSource,
    /// A row of the copy is in the target table already, because another client writes to the database. The value is
    /// the name of the table.
    #[error("another client writes to {0}: let one copy run alone")]
    Crowded(&'static str),
    /// A text contains U+0000.
    #[error(
        "{row}: the column {column} holds U+0000, which PostgreSQL cannot keep: correct it in the source, then copy again"
    )]
    NullCharacter { row: String, column: &'static str },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Fault> for TargetError {
    fn from(fault: Fault) -> Self {
        Self::Store(fault.into())
    }
}

/// Tables to copy, each with its digest in the source.
pub type CopyPlan = [(&'static Table, TableDigest)];

/// Outcome of beginning a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyStart {
    /// A new copy has begun.
    New,
    /// An interrupted copy continues.
    GoesOn,
}

/// Connection to the database that the data is copied into.
pub struct CopyTarget {
    store: PostgresStore,
}

impl CopyTarget {
    /// Connects to the target database, and applies missing migrations.
    pub async fn open(options: PostgresOptions) -> Result<Self, TargetError> {
        // A name is prepared before the script runs, so it could not concern a table that the script creates.
        let options = PostgresOptions { prepared: Prepared::Never, ..options };
        let store = Postgres::connect(options).await?;
        store.migrate_for_copy().await?;
        Ok(Self { store })
    }

    /// Checks that PostgreSQL can store these rows.
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

    /// Begins a copy in an empty database, or resumes one of the same source.
    pub async fn begin(&self, plan: &CopyPlan) -> Result<CopyStart, TargetError> {
        if self.is_begun().await? {
            return self.compare(plan).await;
        }
        let mut reads = Script::default();
        let turn = reads.add(statements::TAKE_TURN, Vec::new());
        let filled = reads.add(statements::find_filled(), Vec::new());
        let begun = self.store.transact_script(&self.store.openings().writes, &reads, |outputs| {
            if outputs.at(turn).rows.is_empty() {
                return Err(driver(EngineFault::NoRow).into());
            }
            if let Some(name) = outputs.at(filled).find(|cells| cells.text("name").map(str::to_owned))? {
                return Ok(Decision::Return(Err(TargetError::NotEmpty(name))));
            }
            Ok(Decision::done(beginning(plan), Ok(())))
        });
        match begun.await {
            // A concurrent copy created the table `unfinished_copy` first.
            Err(error) if is(&error, &SqlState::DUPLICATE_TABLE) => self.compare(plan).await,
            outcome => outcome?.map(|()| CopyStart::New),
        }
    }

    /// Returns the greatest primary key in a table; all rows up to this key have been copied. `None` for an empty table.
    /// Progress is a key instead of a number of rows, because counting takes longer the more rows there are. The source
    /// database can count the rows up to the key.
    pub async fn copied(&self, table: &'static Table) -> Result<Option<Key>, TargetError> {
        let last = self.store.query(statements::find_last(table), Vec::new()).await?;
        Ok(last.rows.first().map(|row| rows::read(table, &table.columns[..table.key], row)).transpose()?)
    }

    /// Inserts a batch of rows atomically.
    pub async fn append(&self, table: &'static Table, rows: &[Row]) -> Result<(), TargetError> {
        let script = Script::of(statements::insert(table), rows::columns(table, rows));
        match self.store.write_many_script(&script).await {
            Ok(_) => Ok(()),
            Err(StoreError::Conflict(UniqueKey::UserEmail | UniqueKey::Username)) => {
                Err(TargetError::Crowded(table.name))
            }
            Err(error) if is(&error, &SqlState::UNIQUE_VIOLATION) => Err(TargetError::Crowded(table.name)),
            // The connection broke after the commit had succeeded.
            Err(StoreError::Unavailable(_)) if self.holds(table, rows).await? => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Computes the digest of a table, and calls `see` with the number of rows of each batch.
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

    /// Completes a copy whose digests were verified. From now on a service may start on the database.
    pub async fn finish(&self) -> Result<(), TargetError> {
        let mut writes = Script::of(statements::DROP_PLAN, Vec::new());
        writes.add(statements::EMPTY_FEED, Vec::new());
        writes.add(statements::SKIP_FEED, Vec::new());
        match self.store.write_script(&writes).await {
            // The connection broke after the commit had succeeded.
            Err(StoreError::Unavailable(_)) if !self.is_begun().await? => Ok(()),
            outcome => Ok(outcome.map(|_| ())?),
        }
    }

    async fn is_begun(&self) -> Result<bool, TargetError> {
        let output = self.store.query(IS_COPY_BEGUN, Vec::new()).await?;
        Ok(output.find(|cells| cells.flag("is_begun"))?.unwrap_or_default())
    }

    /// Checks that the interrupted copy in the database expected the same digests as this plan.
    async fn compare(&self, plan: &CopyPlan) -> Result<CopyStart, TargetError> {
        let output = self.store.query(statements::LIST_PLAN, Vec::new()).await?;
        let mut found: Vec<(String, i64, Vec<u8>)> = output
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
        let output =
            self.store.query(statements::page(table, after.is_some(), limit), keys.collect()).await?;
        let rows = output.rows.iter().map(|row| rows::read(table, table.columns, row));
        Ok(rows.collect::<Result<_, Fault>>()?)
    }

    /// True if the last of these rows is in the table. A batch is inserted atomically, so the others are there too.
    async fn holds(&self, table: &'static Table, rows: &[Row]) -> Result<bool, TargetError> {
        let Some(last) = rows.last() else { return Ok(false) };
        let keys = last[..table.key].iter().map(rows::parameter).collect();
        Ok(!self.store.query(statements::find(table), keys).await?.rows.is_empty())
    }
}

fn is(error: &StoreError, code: &SqlState) -> bool {
    ServerFault::code_of(error) == Some(code)
}

/// Makes the script that begins a copy. It stores the expected digests, and deletes the rows that migrations inserted,
/// because the source has its own.
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

/// Columns that are computed from others when a row is written: table, column, type of the column.
const DERIVED: &[(&str, &str, &str)] = &[("profiles", "trigrams", "INTEGER[]")];

/// Returns name and type of a table's computed column, if it has one.
fn derived(table: &Table) -> Option<(&'static str, &'static str)> {
    let found = DERIVED.iter().find(|(name, _, _)| *name == table.name)?;
    Some((found.1, found.2))
}
