//! Execution of prepared statements. [`crate::rows`] decodes the results.

use latchkey_store::StoreResult;
use latchkey_store_operations::form::Cells;
use rusqlite::{Connection, Params, Transaction};

use crate::errors::Fallible;
use crate::rows::SqliteRow;

/// Executes a change; returns the number of affected rows.
pub(crate) fn execute(conn: &Connection, sql: &str, params: impl Params) -> Fallible<usize> {
    Ok(conn.prepare_cached(sql)?.execute(params)?)
}

/// First row, if any.
pub(crate) fn find<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&mut Cells<'_>) -> StoreResult<T>,
) -> Fallible<Option<T>> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some(read(&mut Cells::new(&SqliteRow(row)))?))
}

/// All rows.
pub(crate) fn list<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    read: impl Fn(&mut Cells<'_>) -> StoreResult<T>,
) -> Fallible<Vec<T>> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(&mut Cells::new(&SqliteRow(row)))?);
    }
    Ok(found)
}

/// Integer from a statement that always returns a row.
pub(crate) fn number(conn: &Connection, sql: &str, params: impl Params) -> Fallible<i64> {
    Ok(conn.prepare_cached(sql)?.query_row(params, |row| row.get(0))?)
}

/// Snapshot for several reads, held until dropped. `None` if the connection already holds one
/// ([`crate::point_reads`]).
pub(crate) fn moment(conn: &Connection) -> Fallible<Option<Transaction<'_>>> {
    Ok(conn.is_autocommit().then(|| conn.unchecked_transaction()).transpose()?)
}
