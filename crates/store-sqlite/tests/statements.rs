//! Statements of the operations fit the schema of this engine.
#![allow(clippy::unwrap_used)]

use latchkey_store_operations::tables::all_statements;
use latchkey_store_sqlite::Sqlite;
use rusqlite::Connection;

#[test]
fn every_statement_fits_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    drop(Sqlite::open(&path).unwrap());
    let conn = Connection::open(&path).unwrap();

    let mut refused = Vec::new();
    for (table, name, sql) in all_statements() {
        if let Err(error) = conn.prepare(sql.sqlite()) {
            refused.push(format!("{table}::{name}: {error}"));
        }
    }

    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
