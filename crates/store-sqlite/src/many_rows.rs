//! Inserts of many rows, several by one statement. Until a statement with triggers ends, SQLite keeps the old content of
//! the pages that it changes, to be able to take it back. For each row by itself that takes as long as the insert.

use std::fmt::Write;

use latchkey_store_operations::form::Value;
use rusqlite::{Connection, params_from_iter};

use crate::errors::Fallible;
use crate::rows::Parameter;

/// Number of rows that one statement inserts. Larger statements are not faster.
const ROWS: usize = 32;

/// Executes a statement `INSERT … VALUES (…)` for each row.
pub(crate) fn insert(conn: &Connection, sql: &str, rows: &[&[Value]]) -> Fallible<()> {
    let groups = rows.chunks_exact(ROWS);
    let rest = groups.remainder();
    if let Some(first) = rows.first().filter(|_| rows.len() >= ROWS) {
        let mut statement = conn.prepare_cached(&of_many(sql, first.len()))?;
        for group in groups {
            statement.execute(params_from_iter(group.iter().flat_map(|row| row.iter()).map(Parameter)))?;
        }
    }
    let mut statement = conn.prepare_cached(sql)?;
    for row in rest {
        statement.execute(params_from_iter(row.iter().map(Parameter)))?;
    }
    Ok(())
}

/// Returns the statement for [`ROWS`] rows: the parenthesised values again for each row, with parameters of its own.
fn of_many(sql: &str, columns: usize) -> String {
    let Some((head, values)) = sql.split_once("VALUES ") else { return sql.to_owned() };
    let mut text = format!("{head}VALUES ");
    for row in 0..ROWS {
        if row > 0 {
            text.push_str(", ");
        }
        add_row(&mut text, values, row * columns);
    }
    text
}

/// Adds the values of a row, whose first parameter follows `before` others.
fn add_row(text: &mut String, values: &str, before: usize) {
    let mut parts = values.split('?');
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = part.split_at(digits);
        let number = number.parse::<usize>().unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = write!(text, "?{}{rest}", number + before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_parameters_of_its_own() {
        let sql = of_many("INSERT INTO t (a, b) VALUES (?1, CASE WHEN ?2 THEN ?1 END)", 2);
        assert!(sql.starts_with(
            "INSERT INTO t (a, b) VALUES (?1, CASE WHEN ?2 THEN ?1 END), (?3, CASE WHEN ?4 THEN ?3 END), "
        ));
        assert!(sql.ends_with(", (?63, CASE WHEN ?64 THEN ?63 END)"));
    }

    #[test]
    fn rows_of_full_statements_and_of_the_rest_are_inserted() {
        let conn = Connection::open_in_memory().expect("a database in memory");
        conn.execute_batch("CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER)").expect("a table");
        for count in [0, 1, 31, 32, 33, 64, 100] {
            let rows: Vec<_> = (0..count).map(|n| [Value::Int(Some(n)), Value::Int(Some(2 * n))]).collect();
            let rows: Vec<_> = rows.iter().map(<[Value; 2]>::as_slice).collect();
            insert(&conn, "INSERT INTO t (a, b) VALUES (?1, ?2)", &rows).expect("the rows are inserted");
            let found: (i64, i64) = conn
                .query_row("SELECT count(*), count(*) FILTER (WHERE b = 2 * a) FROM t", [], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .expect("the rows are counted");
            assert_eq!(found, (count, count));
            conn.execute_batch("DELETE FROM t").expect("the table is emptied");
        }
    }
}
