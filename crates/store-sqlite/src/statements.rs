//! Execution of prepared statements. Their rows are decoded by [`crate::rows`].

use latchkey_store::StoreResult;
use latchkey_store_operations::form::Cells;
use rusqlite::{Connection, Params, Transaction};

use crate::errors::Fallible;
use crate::rows::SqliteRow;

/// Executes a statement that changes rows, and returns the number of affected rows.
pub(crate) fn execute(conn: &Connection, sql: &str, params: impl Params) -> Fallible<usize> {
    Ok(conn.prepare_cached(sql)?.execute(params)?)
}

/// Decodes the first row of a query, if there is one.
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

/// Executes a query that always returns one row, and returns the row's integer.
pub(crate) fn number(conn: &Connection, sql: &str, params: impl Params) -> Fallible<i64> {
    Ok(conn.prepare_cached(sql)?.query_row(params, |row| row.get(0))?)
}

/// Begins a transaction, so that several reads share one snapshot until the transaction is dropped. Returns `None` if
/// the connection already holds a snapshot ([`crate::point_reads`]).
pub(crate) fn moment(conn: &Connection) -> Fallible<Option<Transaction<'_>>> {
    Ok(conn.is_autocommit().then(|| conn.unchecked_transaction()).transpose()?)
}
