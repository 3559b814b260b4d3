//! Reader of a whole SQLite database for `latchkey copy`: every row of every table, from one snapshot, without writing
//! to the file. [`latchkey_store_operations::bulk`] describes the tables and rows.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use latchkey_store::StoreError;
use latchkey_store_operations::bulk::{Cell, Digest, Key, Kind, Row, Table, TableDigest};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ToSql, params_from_iter};
use rustix::process::{Flock, FlockOffsetType, FlockType, fcntl_getlk};

use crate::errors::Fault;
use crate::statements::{execute, number};
use crate::{migrations, open};

/// Maximum time to wait for a lock of another process.
const PATIENCE: Duration = Duration::from_secs(5);

/// Byte range (start, length) in which every SQLite connection holds a shared lock while it is open. It is part of
/// SQLite's file format.
const LOCKED_WHILE_OPEN: (u64, u64) = (0x4000_0002, 510);

/// Pragma whose value changes with every commit of another connection.
const DATA_VERSION: &str = "PRAGMA data_version";

/// Reason why a database cannot be copied.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The file is missing or unreadable.
    #[error("{} cannot be read: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    /// Another process has the file open. The copy would miss its later writes.
    #[error("{} is open in another process{}: stop the service first", path.display(), named(*process))]
    InUse {
        path: PathBuf,
        /// Id of the process that has the file open; `None` if the operating system does not report it.
        process: Option<i32>,
    },
    /// The schema is not up to date. The value is the first missing migration.
    #[error("the database is not up to date, {0} is missing: run `latchkey migrate` on it first")]
    Outdated(&'static str),
    /// A text is not valid UTF-8.
    #[error(
        "{row}: the column {column} holds a text that is not UTF-8: correct it in the source, then copy again"
    )]
    NotUtf8 { row: String, column: &'static str },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Fault> for SourceError {
    fn from(fault: Fault) -> Self {
        Self::Store(fault.into())
    }
}

impl From<rusqlite::Error> for SourceError {
    fn from(error: rusqlite::Error) -> Self {
        Fault::from(error).into()
    }
}

fn named(process: Option<i32>) -> String {
    process.map(|id| format!(" ({id})")).unwrap_or_default()
}

/// A read-only snapshot of a database file.
pub struct SqliteSource {
    conn: Connection,
    watcher: Connection,
    version: i64,
}

impl SqliteSource {
    /// Opens a file. Fails if another process has it open, or if its schema is not exactly that of this binary.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        refuse_if_in_use(path)?;
        let watcher = open::reader(path, PATIENCE)?;
        let version = number(&watcher, DATA_VERSION, [])?;
        let conn = open::reader(path, PATIENCE)?;
        execute(&conn, "BEGIN", [])?;
        if let Some(missing) = migrations::check(&conn)?.first() {
            return Err(SourceError::Outdated(missing));
        }
        Ok(Self { conn, watcher, version })
    }

    /// True if another process has committed since the file was opened. The copy would lack that commit.
    pub fn has_changed(&self) -> Result<bool, SourceError> {
        Ok(number(&self.watcher, DATA_VERSION, [])? != self.version)
    }

    /// Returns the number of rows up to and including a primary key.
    pub fn count_up_to(&self, table: &'static Table, key: &Key) -> Result<u64, SourceError> {
        let (name, keys, marks) = (table.name, table.key_names(), vec!["?"; table.key].join(", "));
        let sql = format!("SELECT count(*) FROM {name} WHERE ({keys}) <= ({marks})");
        let count = number(&self.conn, &sql, params_from_iter(key.iter().map(Parameter)))?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    /// Returns at most `limit` rows after a primary key, in the order of the keys (keyset pagination). Without a key,
    /// starts at the first row.
    pub fn rows(
        &self,
        table: &'static Table,
        after: Option<&Key>,
        limit: u32,
    ) -> Result<Vec<Row>, SourceError> {
        let sql = page_statement(table, after.is_some(), limit);
        let keys = after.map(Vec::as_slice).unwrap_or_default().iter().map(Parameter);
        let mut statement = self.conn.prepare_cached(&sql)?;
        let mut found = statement.query(params_from_iter(keys))?;
        let mut rows = Vec::new();
        while let Some(row) = found.next()? {
            rows.push(read_row(table, row)?);
        }
        Ok(rows)
    }

    /// Computes the digest of a table, and calls `see` with every batch of its rows.
    pub fn digest<E: From<SourceError>>(
        &self,
        table: &'static Table,
        batch: u32,
        mut see: impl FnMut(&[Row]) -> Result<(), E>,
    ) -> Result<TableDigest, E> {
        let mut digest = Digest::new(table);
        let mut after = None;
        loop {
            let rows = self.rows(table, after.as_ref(), batch)?;
            let Some(last) = rows.last() else { return Ok(digest.finish()) };
            see(&rows)?;
            digest.add(&rows);
            after = Some(last[..table.key].to_vec());
        }
    }
}

/// Fails if a process holds SQLite's lock. The query (`F_GETLK`) takes no lock itself.
pub(crate) fn refuse_if_in_use(path: &Path) -> Result<(), SourceError> {
    let fail = |source| SourceError::File { path: path.to_owned(), source };
    let file = File::open(path).map_err(fail)?;
    let (start, length) = LOCKED_WHILE_OPEN;
    let wish =
        Flock { start, length, pid: None, typ: FlockType::WriteLock, offset_type: FlockOffsetType::Set };
    let held = fcntl_getlk(&file, &wish).map_err(|error| fail(error.into()))?;
    match held {
        None => Ok(()),
        Some(lock) => Err(SourceError::InUse {
            path: path.to_owned(),
            process: lock.pid.map(|id| id.as_raw_nonzero().get()),
        }),
    }
}

fn page_statement(table: &Table, has_key: bool, limit: u32) -> String {
    let (columns, keys) = (table.column_names(), table.key_names());
    let marks = vec!["?"; table.key].join(", ");
    let after = if has_key { format!("WHERE ({keys}) > ({marks})") } else { String::new() };
    format!("SELECT {columns} FROM {} {after} ORDER BY {keys} LIMIT {limit}", table.name)
}

fn read_row(table: &'static Table, row: &rusqlite::Row<'_>) -> Result<Row, SourceError> {
    let mut cells = Vec::with_capacity(table.columns.len());
    for (at, column) in table.columns.iter().enumerate() {
        let value = row.get_ref(at)?;
        let Some(cell) = read_cell(column.kind, value) else {
            return Err(match value {
                ValueRef::Text(_) => SourceError::NotUtf8 { row: name_of(table, row), column: column.name },
                _ => StoreError::Corrupt { table: table.name, column: column.name }.into(),
            });
        };
        cells.push(cell);
    }
    Ok(cells)
}

fn read_cell(kind: Kind, value: ValueRef<'_>) -> Option<Cell> {
    Some(match (kind, value) {
        (_, ValueRef::Null) => Cell::Null,
        (Kind::Id, ValueRef::Blob(bytes)) => Cell::Id(bytes.try_into().ok()?),
        (Kind::Int, ValueRef::Integer(number)) => Cell::Int(number),
        (Kind::Flag, ValueRef::Integer(number)) => Cell::Flag(number != 0),
        (Kind::Text, ValueRef::Text(bytes)) => Cell::Text(str::from_utf8(bytes).ok()?.to_owned()),
        (Kind::Bytes, ValueRef::Blob(bytes)) => Cell::Bytes(bytes.to_vec()),
        _ => return None,
    })
}

/// Returns the text that identifies a row in messages, even if the row's primary key cannot be decoded.
fn name_of(table: &Table, row: &rusqlite::Row<'_>) -> String {
    let keys = table.columns[..table.key].iter().enumerate();
    let cells = keys.map(|(at, column)| match row.get_ref(at) {
        Ok(ValueRef::Text(bytes)) => Cell::Text(String::from_utf8_lossy(bytes).into_owned()),
        Ok(value) => read_cell(column.kind, value).unwrap_or(Cell::Null),
        Err(_) => Cell::Null,
    });
    table.name_of(&cells.collect::<Vec<_>>())
}

struct Parameter<'a>(&'a Cell);

impl ToSql for Parameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Cell::Null => ToSqlOutput::Owned(Value::Null),
            Cell::Id(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Cell::Int(number) => ToSqlOutput::Owned(Value::Integer(*number)),
            Cell::Flag(flag) => ToSqlOutput::Owned(Value::Integer(i64::from(*flag))),
            Cell::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Cell::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}
