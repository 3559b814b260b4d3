//! Running prepared statements. Reading what they yield is in [`crate::rows`].

use rusqlite::{Connection, Params, Row, Transaction};

use crate::errors::Fallible;

/// Runs a statement that changes rows; answers how many.
pub(crate) fn execute(conn: &Connection, sql: &str, params: impl Params) -> Fallible<usize> {
    Ok(conn.prepare_cached(sql)?.execute(params)?)
}

/// The first row, if there is one.
pub(crate) fn find<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&Row<'_>) -> Fallible<T>,
) -> Fallible<Option<T>> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    rows.next()?.map(read).transpose()
}

/// All rows.
pub(crate) fn list<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    read: impl Fn(&Row<'_>) -> Fallible<T>,
) -> Fallible<Vec<T>> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
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

/// Does work inside a savepoint and takes all of it back.
pub(crate) fn rehearse(conn: &Connection, work: impl FnOnce() -> Fallible<()>) -> Fallible<()> {
    execute(conn, "SAVEPOINT rehearsal", [])?;
    let outcome = work();
    execute(conn, "ROLLBACK TO rehearsal", [])?;
    execute(conn, "RELEASE rehearsal", [])?;
    outcome
}
