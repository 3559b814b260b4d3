//! Execution of scripts on SQLite. A script's changes are executed in order when it starts. A read is executed when
//! its result is requested, so that an early refusal costs only the reads before it; if the result is requested twice,
//! the read runs twice.

use std::future::Future;

use latchkey_store::{StoreError, StoreResult};
use latchkey_store_operations::form::{
    Decided, Executor, Pages, Receiver, Repeat, ResultSource, Results, Row, Script, Slot, Statement, Taken,
    Value,
};
use rusqlite::{Connection, params_from_iter};

use crate::errors::{EngineFault, Fallible, Fault, driver};
use crate::many_rows;
use crate::profile_writes;
use crate::rows::{Parameter, SqliteRow};
use crate::statements::{execute, moment};
use crate::store::Sqlite;
use crate::takes;

/// A script that is being executed on a connection.
struct Run<'c> {
    conn: &'c Connection,
    script: &'c Script,
    done: Vec<StatementResult>,
}

/// Result of a statement in a running script.
enum StatementResult {
    /// The statement has no result yet, because it is a read, which is executed on request, or never has one,
    /// because it is a profile write or a notification.
    NotYet,
    /// Number of rows that the statement affected.
    Changed(u64),
    /// Outcome of taking tokens from buckets.
    Taken(Taken),
}

impl<'c> Run<'c> {
    /// Starts a script: executes all statements that change rows. A read is executed later, when its result is
    /// requested.
    fn begin(conn: &'c Connection, script: &'c Script) -> Fallible<Self> {
        let done = script.statements().iter().map(|statement| change(conn, statement));
        let done = done.collect::<Fallible<_>>()?;
        Ok(Self { conn, script, done })
    }

    fn step(&self, slot: Slot, each: &mut dyn FnMut(&dyn Row) -> StoreResult<bool>) -> Fallible<()> {
        let Some(Statement::Read(sql, values)) = self.script.statements().get(slot.index()) else {
            return Err(driver(EngineFault::NoResult).into());
        };
        // On SQLite the read would see those changes, on PostgreSQL it would not.
        debug_assert!(!self.script.is_changing_after(slot), "changes stand behind a read that is asked for");
        let mut statement = self.conn.prepare_cached(sql.sqlite())?;
        let mut rows = statement.query(params_from_iter(values.iter().map(Parameter)))?;
        while let Some(row) = rows.next()? {
            if !each(&SqliteRow(row))? {
                break;
            }
        }
        Ok(())
    }
}

fn change(conn: &Connection, statement: &Statement) -> Fallible<StatementResult> {
    Ok(match statement {
        Statement::Read(..) | Statement::Announce => StatementResult::NotYet,
        Statement::Change(sql, values) => {
            let params = params_from_iter(values.iter().map(Parameter));
            StatementResult::Changed(execute(conn, sql.sqlite(), params)? as u64)
        }
        Statement::Take(request) => StatementResult::Taken(takes::take(conn, request)?),
        Statement::Profile(write) => {
            profile_writes::write(conn, write)?;
            StatementResult::NotYet
        }
        Statement::Rows(sql, rows) => {
            let rows: Vec<&[Value]> = rows.iter().map(AsRef::as_ref).collect();
            many_rows::insert(conn, sql.sqlite(), &rows)?;
            StatementResult::NotYet
        }
        Statement::NewProfiles(profiles) => {
            profile_writes::create_all(conn, profiles)?;
            StatementResult::NotYet
        }
    })
}

impl ResultSource for Run<'_> {
    fn rows(&self, slot: Slot, each: &mut dyn FnMut(&dyn Row) -> StoreResult<bool>) -> StoreResult<()> {
        Ok(self.step(slot, each)?)
    }

    fn affected(&self, slot: Slot) -> StoreResult<u64> {
        match self.done.get(slot.index()) {
            Some(StatementResult::Changed(count)) => Ok(*count),
            _ => Err(driver(EngineFault::NoResult)),
        }
    }

    fn taken(&self, slot: Slot) -> StoreResult<Taken> {
        match self.done.get(slot.index()) {
            Some(StatementResult::Taken(taken)) => Ok(taken.clone()),
            _ => Err(driver(EngineFault::NoResult)),
        }
    }
}

/// Executes a script and computes the outcome from its results.
pub(crate) fn finish<T>(
    conn: &Connection,
    script: &Script,
    finish: impl FnOnce(&Results<'_>) -> StoreResult<T>,
) -> Fallible<T> {
    let run = Run::begin(conn, script)?;
    Ok(finish(&Results::new(&run))?)
}

/// Executes a script of reads from one snapshot, and computes the outcome from their results.
pub(crate) fn finish_read<T>(
    conn: &Connection,
    script: &Script,
    made: impl FnOnce(&Results<'_>) -> StoreResult<T>,
) -> Fallible<T> {
    let _moment = if script.statements().len() > 1 { moment(conn)? } else { None };
    finish(conn, script, made)
}

/// Executes the script `reads`, decides, and executes the writes. The script `reads` may also contain statements that
/// change rows; these changes are rolled back if the decision is to write nothing.
fn decide<T>(
    conn: &Connection,
    reads: &Script,
    decide: impl Fn(&Results<'_>) -> StoreResult<Decided<T>>,
) -> Fallible<T> {
    if !reads.is_changing() {
        return match finish(conn, reads, decide)? {
            Decided::Return(answer) => Ok(answer),
            Decided::Write(script, made) => finish(conn, &script, made),
            Decided::Retry => Err(no_conflict()),
        };
    }
    execute(conn, "SAVEPOINT claims", [])?;
    let outcome = match finish(conn, reads, decide)? {
        Decided::Return(answer) => {
            execute(conn, "ROLLBACK TO claims", [])?;
            answer
        }
        Decided::Write(script, made) => finish(conn, &script, made)?,
        Decided::Retry => return Err(no_conflict()),
    };
    execute(conn, "RELEASE claims", [])?;
    Ok(outcome)
}

/// Returns the error for [`Decided::Retry`], which cannot occur with a single writer.
fn no_conflict() -> Fault {
    driver(EngineFault::NoResult).into()
}

impl Executor for Sqlite {
    const HAS_ONE_WRITER: bool = true;

    fn read<T, F>(&self, script: Script, made: F) -> impl Future<Output = StoreResult<T>> + Send
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    {
        std::future::ready(self.read_here(|conn| finish_read(conn, &script, made)))
    }

    async fn read_long<T, F>(&self, script: Script, made: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    {
        self.read_elsewhere(move |conn| finish_read(conn, &script, made)).await
    }

    async fn read_pages<P, R>(&self, mut pages: P, mut receiver: R) -> StoreResult<()>
    where
        P: Pages,
        R: Receiver<P::Page>,
    {
        let snapshot = self.snapshot()?;
        while let Some(script) = pages.next() {
            let read = move |conn: &Connection| {
                let page = finish(conn, &script, |results| pages.read(results))?;
                Ok((pages, page))
            };
            let (rest, page) = snapshot.run(read).await?;
            pages = rest;
            if !receiver.take(page).await {
                break;
            }
        }
        Ok(())
    }

    async fn write<T, F>(&self, script: Script, _: Repeat, made: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    {
        self.run(move |conn| finish(conn, &script, made)).await
    }

    async fn write_unless_contested<T, F>(&self, script: Script, made: F) -> StoreResult<Option<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    {
        match self.run(move |conn| finish(conn, &script, made)).await {
            Ok(answer) => Ok(Some(answer)),
            Err(StoreError::Conflict(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn transact<T, F>(&self, reads: Script, decision: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: Fn(&Results<'_>) -> StoreResult<Decided<T>> + Send + Sync + 'static,
    {
        self.run(move |conn| decide(conn, &reads, decision)).await
    }

    async fn transact_alone<T, F>(&self, reads: Script, decision: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: Fn(&Results<'_>) -> StoreResult<Decided<T>> + Send + Sync + 'static,
    {
        self.run_alone(move |conn| decide(conn, &reads, decision)).await
    }
}
