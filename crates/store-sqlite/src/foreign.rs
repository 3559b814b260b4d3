//! Reader of another application's SQLite file, for imports: the rows of a table as JSON objects, with the rows of tables
//! beside it. The file is only read, and its statements have a time limit.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use latchkey_domain::imports::LARGEST_RECORD;
use latchkey_store::{
    CHUNKS_AHEAD, Chunk, ForeignRow, MOST_SIDE_ROWS, NoColumn, NoTable, NoTableId, SideTable, StoreError,
    Unreadable,
};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, Statement};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::errors::Fallible;
use crate::open;

/// Number of bytes that are kept of a text that is not UTF-8.
const MOST_BYTES: usize = 64;
/// Time in which a statement must yield a row. What the import takes for the row does not count.
const LIMIT: Duration = Duration::from_hours(6);
/// Number of SQLite's instructions after which a statement looks whether it is to end.
const INSTRUCTIONS: i32 = 100_000;

/// Error: the time limit, or the end of the import, ended a statement.
#[derive(Debug, thiserror::Error)]
#[error(
    "the table {0:?} yielded no row within {hours} hours: name a table that can be read to its end, or import from a file",
    hours = LIMIT.as_secs() / 3600
)]
struct Unending(String);

/// Reads the rows of a table in the order of its column `id`, on a thread of its own. Side tables that do not exist are
/// left out. The reading ends early once `is_stopped` says so.
pub fn foreign_rows(
    path: &Path,
    table: &str,
    sides: Vec<SideTable>,
    is_stopped: impl Fn() -> bool + Send + Sync + 'static,
) -> std::io::Result<impl Iterator<Item = ForeignRow> + Send + 'static> {
    let (sender, chunks) = sync_channel(CHUNKS_AHEAD);
    let (path, table) = (path.to_owned(), table.to_owned());
    let watch = Arc::new(Watch { begun: Instant::now(), row_at: AtomicU64::new(0), is_stopped });
    let work = move || {
        let mut rows = Rows { chunk: Chunk::default(), sender, watch: Arc::clone(&watch) };
        let ended = match read(&path, &table, &sides, &mut rows) {
            Ok(()) => rows.chunk,
            Err(_) if watch.is_over() => rows.chunk.ended_by(Unending(table).into()),
            Err(fault) => rows.chunk.ended_by(Unreadable::from(StoreError::from(fault)).into()),
        };
        let _ = rows.sender.send(ended); // nobody waits for it any more
    };
    std::thread::Builder::new().name("foreign-rows".to_owned()).spawn(work)?;
    Ok(chunks.into_iter().flatten())
}

/// Rows on their way to the import.
struct Rows<F> {
    chunk: Chunk,
    sender: SyncSender<Chunk>,
    watch: Arc<Watch<F>>,
}

impl<F: Fn() -> bool> Rows<F> {
    /// Adds a row. Returns false if the import ended early.
    fn add(&mut self, row: String) -> bool {
        let is_wanted = self.chunk.add(row).is_none_or(|full| self.sender.send(full).is_ok());
        self.watch.note_row();
        is_wanted
    }
}

/// Watch over a reading.
struct Watch<F> {
    begun: Instant,
    /// Seconds from the begin until the last row was taken.
    row_at: AtomicU64,
    is_stopped: F,
}

impl<F: Fn() -> bool> Watch<F> {
    fn is_over(&self) -> bool {
        let waited = self.begun.elapsed().as_secs().saturating_sub(self.row_at.load(Ordering::Relaxed));
        waited >= LIMIT.as_secs() || (self.is_stopped)()
    }

    fn note_row(&self) {
        self.row_at.store(self.begun.elapsed().as_secs(), Ordering::Relaxed);
    }
}

fn read<F: Fn() -> bool + Send + Sync + 'static>(
    path: &Path,
    table: &str,
    sides: &[SideTable],
    rows: &mut Rows<F>,
) -> Fallible<()> {
    let mut conn = open::passive_reader(path)?;
    // A view has no index on its ids: it is sorted in a file, because it may not fit into memory.
    conn.pragma_update(None, "temp_store", "FILE")?;
    let during = Arc::clone(&rows.watch);
    conn.progress_handler(INSTRUCTIONS, Some(move || during.is_over()))?;
    let _snapshot = conn.unchecked_transaction()?;
    let mut beside = match beside(&conn, table, sides)? {
        Ok(beside) => beside,
        Err(missing) => {
            rows.chunk = Chunk::default().ended_by(missing);
            return Ok(());
        }
    };
    let mut accounts = conn.prepare(&format!("SELECT * FROM {} ORDER BY id", quoted(table)))?;
    let names = names_of(&accounts);
    let mut found = accounts.query([])?;
    while let Some(row) = found.next()? {
        let mut object = object_of(row, &names);
        let id = object.get("id").cloned().unwrap_or_default();
        for one in &mut beside {
            let list = one.list_of(&id)?;
            object.insert(one.field.to_owned(), list.into());
            if let Some((key, id)) = &one.scope {
                object.insert((*key).to_owned(), id.as_str().into());
            }
        }
        if !rows.add(Value::Object(object).to_string()) {
            return Ok(()); // the import ended early
        }
    }
    Ok(())
}

/// A list of an account's object, and the statement that reads its rows.
struct Beside<'c> {
    field: &'static str,
    statement: Statement<'c>,
    /// Id of the table of the accounts, with its key in the account's object, if the rows name it.
    scope: Option<(&'static str, String)>,
}

/// Prepares the statements of the side tables that exist, or returns what is missing.
fn beside<'c>(
    conn: &'c Connection,
    table: &str,
    sides: &[SideTable],
) -> Fallible<Result<Vec<Beside<'c>>, Box<dyn std::error::Error + Send + Sync>>> {
    let columns = columns_of(conn, table)?;
    if columns.is_empty() {
        return Ok(Err(NoTable(table.to_owned()).into()));
    }
    if !columns.iter().any(|column| column.eq_ignore_ascii_case("id")) {
        return Ok(Err(NoColumn(table.to_owned(), "id".to_owned()).into()));
    }
    let mut beside: Vec<Beside<'_>> = Vec::new();
    for side in sides {
        let columns = columns_of(conn, side.table)?;
        if !side.is_read(&columns) || beside.iter().any(|one| one.field == side.field) {
            continue;
        }
        match beside_of(conn, table, side, &columns)? {
            Ok(one) => beside.push(one),
            Err(missing) => return Ok(Err(missing)),
        }
    }
    Ok(Ok(beside))
}

/// Prepares the statement of a side table with these columns, or returns what is missing.
fn beside_of<'c>(
    conn: &'c Connection,
    table: &str,
    side: &SideTable,
    columns: &[String],
) -> Fallible<Result<Beside<'c>, Box<dyn std::error::Error + Send + Sync>>> {
    let owner = match side.owner(columns) {
        Ok(owner) => owner,
        Err(missing) => return Ok(Err(missing.into())),
    };
    let mut sql = format!("SELECT * FROM {} WHERE {} = ?1", quoted(side.table), quoted(owner));
    let mut scope = None;
    if let Some(of) = side.scope {
        let named = match side.first_of(of.columns, columns) {
            Ok(named) => named,
            Err(missing) => return Ok(Err(missing.into())),
        };
        let Some(id) = table_id(conn, of.tables, table)? else {
            return Ok(Err(NoTableId(table.to_owned(), of.tables, side.table).into()));
        };
        sql = format!("{sql} AND {} = {}", quoted(named), literal(&id));
        scope = Some((of.key, id));
    }
    Ok(Ok(Beside { field: side.field, statement: conn.prepare(&sql)?, scope }))
}

/// Returns the id of a table of accounts; `None` if it has none. SQLite takes the name of a table in any case.
fn table_id(conn: &Connection, tables: &str, name: &str) -> Fallible<Option<String>> {
    if columns_of(conn, tables)?.is_empty() {
        return Ok(None);
    }
    let sql = format!("SELECT id FROM {} WHERE name = ?1 COLLATE NOCASE LIMIT 1", quoted(tables));
    Ok(conn.query_row(&sql, [name], |row| row.get(0)).optional()?)
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns the columns of a table or view; none if it does not exist.
fn columns_of(conn: &Connection, table: &str) -> Fallible<Vec<String>> {
    let mut statement = conn.prepare("SELECT name FROM pragma_table_xinfo(?1)")?;
    let names = statement.query_map([table], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn names_of(statement: &Statement<'_>) -> Vec<String> {
    statement.column_names().map(str::to_owned).collect()
}

impl Beside<'_> {
    /// Returns the rows of an account: so many that the import sees whether there are too many, or that they are too large.
    fn list_of(&mut self, id: &Value) -> Fallible<Vec<Value>> {
        let names = names_of(&self.statement);
        let mut rows = match id {
            Value::Number(number) => self.statement.query([number.as_i64()])?,
            id => self.statement.query([id.as_str()])?,
        };
        let (mut list, mut bytes) = (Vec::new(), 0);
        while let Some(row) = rows.next()? {
            let object = object_of(row, &names);
            bytes += object.values().filter_map(Value::as_str).map(str::len).sum::<usize>();
            list.push(Value::Object(object));
            if list.len() >= MOST_SIDE_ROWS || bytes > LARGEST_RECORD {
                break;
            }
        }
        Ok(list)
    }
}

/// Returns a row as an object. Blobs are left out. A text that is not UTF-8 becomes a list of its first bytes, so that a
/// format which reads a text there reports it.
fn object_of(row: &Row<'_>, names: &[String]) -> Map<String, Value> {
    let mut object = Map::new();
    for (at, name) in names.iter().enumerate() {
        let value = match row.get_ref(at) {
            Ok(ValueRef::Integer(number)) => Value::from(number),
            Ok(ValueRef::Real(number)) => Value::from(number),
            Ok(ValueRef::Text(text)) => std::str::from_utf8(text)
                .map_or_else(|_| Value::from(&text[..text.len().min(MOST_BYTES)]), Value::from),
            Ok(ValueRef::Null | ValueRef::Blob(_)) | Err(_) => Value::Null,
        };
        object.insert(name.clone(), value);
    }
    object
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::atomic::{AtomicBool, Ordering};

    use latchkey_store::Scope;

    use super::*;

    #[test]
    fn statement_without_an_end_is_ended_with_the_import() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.db");
        let endless = "CREATE VIEW users AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT 1 FROM n)
            SELECT id FROM n WHERE id > 1";
        Connection::open(&path).unwrap().execute_batch(endless).unwrap();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&is_stopped);

        let mut rows =
            foreign_rows(&path, "users", Vec::new(), move || asked.swap(true, Ordering::Relaxed)).unwrap();

        let error = rows.next().unwrap().unwrap_err();
        assert!(error.to_string().contains("\"users\" yielded no row within 6 hours"), "{error}");
        assert!(is_stopped.load(Ordering::Relaxed) && rows.next().is_none());
    }

    /// Reads the table `users` of a file that this script makes, with a side table `beside`.
    fn read(script: &str) -> Vec<ForeignRow> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.db");
        Connection::open(&path).unwrap().execute_batch(script).unwrap();
        let owners = &["recordRef", "recordId"];
        let side = SideTable { field: "list", table: "beside", owners, scope: None, is_needed: true };
        foreign_rows(&path, "users", vec![side], || false).unwrap().collect()
    }

    #[test]
    fn account_with_very_many_rows_beside_it_has_one_more_than_an_import_takes() {
        let rows = |size: u32| {
            let rows = read(&format!(
                "CREATE TABLE users (id TEXT); CREATE TABLE beside (recordRef TEXT, x TEXT); INSERT INTO users VALUES ('u1');
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                INSERT INTO beside SELECT 'u1', hex(zeroblob({size})) FROM n"
            ));
            let text = rows[0].as_ref().unwrap();
            (text.len(), text.matches("recordRef").count())
        };
        assert_eq!(rows(1).1, MOST_SIDE_ROWS);
        assert_eq!(rows(300_000).0, LARGEST_RECORD + 1, "the rest is cut off");
    }

    #[test]
    fn column_with_the_id_of_the_account_is_the_one_that_is_there() {
        for column in ["recordRef", "recordId", "recordid"] {
            let rows = read(&format!(
                "CREATE TABLE users (id TEXT); CREATE TABLE beside ({column} TEXT, x TEXT);
                INSERT INTO users VALUES ('u1'); INSERT INTO beside VALUES ('u1', 'y'), ('u2', 'z')"
            ));
            let row: Value = serde_json::from_str(rows[0].as_ref().unwrap()).unwrap();
            assert_eq!((rows.len(), &row["list"][0]["x"], row["list"].get(1)), (1, &Value::from("y"), None));
        }
    }

    /// Reads the table `users`, beside which `beside` has rows of several tables of accounts.
    fn read_scoped(script: &str) -> Vec<ForeignRow> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.db");
        Connection::open(&path).unwrap().execute_batch(script).unwrap();
        let scope = Scope { columns: &["collectionRef", "collectionId"], tables: "_collections", key: "of" };
        let owners = &["recordRef"];
        let side = SideTable { field: "list", table: "beside", owners, scope: Some(scope), is_needed: true };
        foreign_rows(&path, "Users", vec![side], || false).unwrap().collect()
    }

    #[test]
    fn row_beside_the_account_of_another_table_is_not_read() {
        for column in ["collectionRef", "collectionId"] {
            let rows = read_scoped(&format!(
                "CREATE TABLE _collections (id TEXT, name TEXT); CREATE TABLE users (id TEXT);
                CREATE TABLE beside ({column} TEXT, recordRef TEXT, x TEXT);
                INSERT INTO _collections VALUES ('it''s', 'users'), ('m', 'members'); INSERT INTO users VALUES ('u1');
                INSERT INTO beside VALUES ('m', 'u1', 'stranger'), ('it''s', 'u1', 'own'), ('', 'u1', 'none')"
            ));
            let row: Value = serde_json::from_str(rows[0].as_ref().unwrap()).unwrap();
            assert_eq!(
                (&row["list"][0]["x"], row["list"].get(1), &row["of"]),
                (&Value::from("own"), None, &Value::from("it's"))
            );
        }
    }

    #[test]
    fn rows_that_cannot_be_told_from_those_of_other_tables_are_an_error() {
        let tables =
            "CREATE TABLE users (id TEXT); CREATE TABLE beside (collectionRef TEXT, recordRef TEXT);";
        for (more, told) in [
            ("", "the table _collections has no id of Users"),
            ("CREATE TABLE _collections (id TEXT, name TEXT)", "the table _collections has no id of Users"),
            (
                "ALTER TABLE beside DROP COLUMN collectionRef",
                "beside has no column collectionRef or collectionId",
            ),
        ] {
            let error = read_scoped(&format!("{tables} {more}")).remove(0).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn missing_column_is_named() {
        for (script, told) in [
            (
                "CREATE TABLE users (id TEXT); CREATE TABLE beside (x TEXT)",
                "beside has no column recordRef or recordId",
            ),
            ("CREATE TABLE users (key TEXT)", "users has no column id"),
            ("CREATE VIEW users AS SELECT 1 AS id, gone FROM nowhere", "no such table: main.nowhere"),
        ] {
            let error = read(script).remove(0).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn text_that_is_not_utf8_is_no_text() {
        let rows = read(
            "CREATE TABLE users (id TEXT, name TEXT, key BLOB);
            INSERT INTO users VALUES ('u1', CAST(x'c328' AS TEXT), x'00')",
        );
        let row: Value = serde_json::from_str(rows[0].as_ref().unwrap()).unwrap();
        assert_eq!(row, serde_json::json!({"id": "u1", "name": [195, 40], "key": null}));
    }
}
