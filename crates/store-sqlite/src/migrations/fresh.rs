//! The schema of a new file, as one script. It is generated from the migrations.

use rusqlite::Connection;

use super::{MIGRATIONS, apply};
use crate::errors::Fallible;

pub(super) const SCRIPT: &str = include_str!("fresh.sql");

const HEAD: &str =
    "-- Generated from the migrations by `cargo xtask generated --write`: what they make of an empty file.\n";
/// Statements of the schema. Triggers come last, so that none fires for the rows; the tables inside of an index for full-text
/// search are created by the index.
const SCHEMA: &str =
    "SELECT s.sql FROM sqlite_schema AS s LEFT JOIN pragma_table_list AS t ON t.name = s.name
    WHERE s.sql IS NOT NULL AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND s.name <> 'schema_migrations'
        AND coalesce(t.type, '') <> 'shadow' AND (s.type = 'trigger') = ?1
    ORDER BY s.type <> 'table', s.rowid";
const TABLES: &str = "SELECT name FROM pragma_table_list
    WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> 'schema_migrations'
    ORDER BY name";
const COLUMNS: &str = "SELECT name FROM pragma_table_info(?1) ORDER BY cid";

/// Writes the script: statements of the schema that all migrations lead to, and the rows that they insert.
pub fn script() -> Result<String, latchkey_store::StoreError> {
    Ok(made()?)
}

fn made() -> Fallible<String> {
    let conn = Connection::open_in_memory()?;
    apply(&conn, MIGRATIONS)?;
    script_of(&conn)
}

pub(super) fn script_of(conn: &Connection) -> Fallible<String> {
    let mut script = HEAD.to_owned();
    let mut add = |statement: &str| script.extend([statement, ";\n"]);
    texts(conn, SCHEMA, [false])?.iter().for_each(|sql| add(sql));
    for table in texts(conn, TABLES, [])? {
        let columns = texts(conn, COLUMNS, [&table])?;
        let quoted: Vec<String> = columns.iter().map(|column| format!("quote({column})")).collect();
        let rows = format!("SELECT {} FROM {table} ORDER BY 1", quoted.join(" || ', ' || "));
        for row in texts(conn, &rows, [])? {
            add(&format!("INSERT INTO {table} ({}) VALUES ({row})", columns.join(", ")));
        }
    }
    texts(conn, SCHEMA, [true])?.iter().for_each(|sql| add(sql));
    Ok(script)
}

fn texts(conn: &Connection, sql: &str, params: impl rusqlite::Params) -> Fallible<Vec<String>> {
    let mut statement = conn.prepare(sql)?;
    let texts = statement.query_map(params, |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(texts)
}
