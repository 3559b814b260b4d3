//! SQL statements that copy all data from one database into another, generated from the descriptions of the tables.

use std::fmt::Write;

use latchkey_store_operations::bulk::Table;
use latchkey_store_operations::tables::TABLES;

use super::derived;

pub(super) const LIST_PLAN: &str =
    "SELECT table_name, row_count, digest FROM unfinished_copy ORDER BY table_name";
pub(super) const CREATE_PLAN: &str = "
    CREATE TABLE unfinished_copy (
        table_name TEXT   COLLATE \"C\" NOT NULL PRIMARY KEY,
        row_count  BIGINT NOT NULL,
        digest     BYTEA  NOT NULL
    )";
pub(super) const ADD_TO_PLAN: &str =
    "INSERT INTO unfinished_copy (table_name, row_count, digest) VALUES ($1, $2, $3)";
pub(super) const DROP_PLAN: &str = "DROP TABLE unfinished_copy";
/// Empties the search feed. Triggers have filled it with the copied rows, but no instance needs these changes.
pub(super) const EMPTY_FEED: &str = "TRUNCATE search_feed";
pub(super) const SKIP_FEED: &str = "
    UPDATE search_feed_state SET purged = pg_current_xact_id()::text::bigint + 1 WHERE id = 1";
/// Locks a row that every migration and every copy locks. They therefore run one after another.
pub(super) const TAKE_TURN: &str = "SELECT version FROM schema_migrations WHERE version = 0 FOR UPDATE";

/// Returns the query for the name of a table that is not empty. Tables with rows from migrations are left out.
pub(super) fn find_filled() -> String {
    let tables = TABLES.iter().filter(|table| !table.is_seeded);
    let questions =
        tables.map(|table| format!("SELECT '{0}' AS name WHERE EXISTS (SELECT 1 FROM {0})", table.name));
    format!("{} LIMIT 1", questions.collect::<Vec<_>>().join(" UNION ALL "))
}

/// Returns the query for the greatest primary key of a table.
pub(super) fn find_last(table: &Table) -> String {
    let keys = &table.columns[..table.key];
    let order: Vec<_> = keys.iter().map(|column| format!("{} DESC", column.name)).collect();
    format!("SELECT {} FROM {} ORDER BY {} LIMIT 1", table.key_names(), table.name, order.join(", "))
}

/// Returns the query that yields a row if a primary key exists.
pub(super) fn find(table: &Table) -> String {
    format!("SELECT 1 FROM {} WHERE ({}) = ({})", table.name, table.key_names(), marks(table.key))
}

/// Returns the query for the rows after a primary key, in the order of the keys (keyset pagination).
pub(super) fn page(table: &Table, has_key: bool, limit: u32) -> String {
    let (columns, keys) = (table.column_names(), table.key_names());
    let after = if has_key { format!("WHERE ({keys}) > ({})", marks(table.key)) } else { String::new() };
    format!("SELECT {columns} FROM {} {after} ORDER BY {keys} LIMIT {limit}", table.name)
}

/// Returns the statement that inserts rows, given as one array per column.
pub(super) fn insert(table: &Table) -> String {
    let columns = table.column_names();
    let (mut into, mut from, mut names) = (columns.clone(), columns.clone(), columns);
    let mut arrays = table.columns.len();
    if let Some((name, kind)) = derived(table) {
        arrays += 1;
        // Writing to a `String` cannot fail. A nested array would be unnested, so it is passed as text.
        let _ = write!(into, ", {name}");
        let _ = write!(from, ", {name}::{kind}");
        let _ = write!(names, ", {name}");
    }
    format!(
        "INSERT INTO {} ({into}) SELECT {from} FROM unnest({}) AS new ({names})",
        table.name,
        marks(arrays)
    )
}

fn marks(count: usize) -> String {
    (1..=count).map(|number| format!("${number}")).collect::<Vec<_>>().join(", ")
}
