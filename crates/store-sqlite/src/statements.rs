//! Running prepared statements. Reading what they yield is in [`crate::rows`].

use latchkey_store::StoreResult;
use latchkey_store_operations::form::Cells;
use rusqlite::{Connection, Params, Transaction};

use crate::errors::Fallible;
use crate::rows::SqliteRow;

/// Runs a statement that changes rows; answers how many.
pub(crate) fn execute(conn: &Connection, sql: &str, params: impl Params) -> Fallible<usize> {
    Ok(conn.prepare_cached(sql)?.execute(params)?)
}

/// The first row, if there is one.
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

/// A number that the statement always yields.
pub(crate) fn number(conn: &Connection, sql: &str, params: impl Params) -> Fallible<i64> {
    Ok(conn.prepare_cached(sql)?.query_row(params, |row| row.get(0))?)
}

/// Lets several reads see one moment, until it is dropped. A snapshot that is kept open ([`crate::point_reads`]) is one.
pub(crate) fn moment(conn: &Connection) -> Fallible<Option<Transaction<'_>>> {
    Ok(conn.is_autocommit().then(|| conn.unchecked_transaction()).transpose()?)
}
