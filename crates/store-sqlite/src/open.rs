//! Connections to the database file: creation of the file, and SQLite's settings of every connection.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use latchkey_store::StoreResult;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::errors::{Fallible, Fault, driver, unavailable};
use crate::options::SqliteOptions;

/// Capacity of the cache of prepared statements per connection. It exceeds the number of those that requests use.
const PREPARED_STATEMENTS: usize = 256;
/// Page cache of a connection that writes very much, in KiB.
const BULK_CACHE_KIB: i64 = 44 * 1024;
/// Size of the log of such a connection at which a checkpoint happens, in bytes.
const BULK_LOG: i64 = 256 * 1024 * 1024;
/// Size of a page in bytes, SQLite's default.
const PAGE: i64 = 4_096;
/// Size to which the WAL file is truncated after a checkpoint, in bytes.
const LOG_LIMIT: i64 = 64 * 1024 * 1024;
/// Pause between attempts to switch the journal mode to WAL.
const SWITCH_PAUSE: Duration = Duration::from_millis(10);

/// The reason why a file cannot be opened.
#[derive(Debug, thiserror::Error)]
enum OpenError {
    #[error("write-ahead logging is not possible here: the journal mode is {0}")]
    JournalMode(String),
}

/// Creates the database file with mode 600, if there is none. A log without its file is refused: SQLite would delete it, and with
/// it what was written last, when somebody has only moved the file.
pub(crate) fn create_file(path: &Path) -> StoreResult<()> {
    let log = log_of(path);
    // Another process that starts now writes the file before the log.
    if !has_content(path)? && has_content(&log)? && !has_content(path)? {
        return Err(driver(LogAlone(log)));
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(unavailable(error)),
        _ => Ok(()),
    }
}

/// Error: a log has no database.
#[derive(Debug, thiserror::Error)]
#[error(
    "the log {} has no database beside it: put the file that it belongs to back, or move the log away as well", .0.display()
)]
struct LogAlone(PathBuf);

fn log_of(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

fn has_content(path: &Path) -> StoreResult<bool> {
    match path.metadata() {
        Ok(found) => Ok(found.len() > 0),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(unavailable(error)),
    }
}

/// Error: there is no database, and creating one is not allowed.
#[derive(Debug, thiserror::Error)]
#[error("there is no database at {}", .0.display())]
pub struct NoDatabase(PathBuf);

/// Fails if the file is missing or empty. SQLite would treat an empty file as a new database.
pub(crate) fn refuse_missing(path: &Path) -> StoreResult<()> {
    if has_content(path)? { Ok(()) } else { Err(driver(NoDatabase(path.to_owned()))) }
}

pub(crate) fn writer(path: &Path, busy_timeout: Duration) -> Fallible<Connection> {
    let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, busy_timeout)?;
    switch_to_wal(&conn, busy_timeout)?;
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "journal_size_limit", LOG_LIMIT)?;
    Ok(conn)
}

/// Enlarges the page cache and the log up to which no checkpoint happens, because rows in no order of the indexes change each
/// page of an index many times. A commit does not wait for the disk: a power failure may undo the last ones, and what was to be
/// written says where it stands. The checkpoint at the end waits.
pub(crate) fn expect_many_writes(conn: &Connection) -> Fallible<()> {
    conn.pragma_update(None, "cache_size", -BULK_CACHE_KIB)?;
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    conn.pragma_update(None, "wal_autocheckpoint", BULK_LOG / PAGE)?;
    Ok(())
}

/// Writes what a power failure may undo, without a wait for the disk. A checkpoint that it causes does wait.
pub(crate) fn without_waiting<T>(
    conn: &Connection,
    write: impl FnOnce(&Connection) -> Fallible<T>,
) -> Fallible<T> {
    let level: i64 = conn.pragma_query_value(None, "synchronous", |row| row.get(0))?;
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    let outcome = write(conn);
    conn.pragma_update(None, "synchronous", level)?; // without it, no later write would be durable
    outcome
}

/// Leaves checkpoints and truncation of the log to a replicator, which reads the log before it does either.
pub(crate) fn leave_log_alone(conn: &Connection) -> Fallible<()> {
    conn.pragma_update(None, "wal_autocheckpoint", 0)?;
    conn.pragma_update(None, "journal_size_limit", -1)?;
    Ok(())
}

/// Opens a connection that copies the whole database. It may write, because a read-only connection would leave the log
/// of a closed database behind.
pub(crate) fn copier(path: &Path, busy_timeout: Duration) -> Fallible<Connection> {
    let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, busy_timeout)?;
    conn.pragma_update(None, "query_only", true)?;
    Ok(conn)
}

/// Sets whether closing the last connection leaves the WAL in place, or checkpoints and deletes it.
pub(crate) fn keep_log(conn: &Connection, keeps: bool) -> Fallible<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps)?;
    Ok(())
}

pub(crate) fn reader(path: &Path, busy_timeout: Duration) -> Fallible<Connection> {
    let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, busy_timeout)?;
    conn.pragma_update(None, "query_only", true)?;
    Ok(conn)
}

/// Opens a read-only connection that leaves no files beside the database, even if no service has the database open.
pub(crate) fn passive_reader(path: &Path) -> Fallible<Connection> {
    let is_open = log_of(path).try_exists().map_err(unavailable)?;
    if is_open { reader(path, SqliteOptions::default().busy_timeout) } else { reader_of_closed(path) }
}

/// Opens a read-only connection to a file that no other process has open (`immutable=1`). Unlike a normal WAL reader,
/// it takes no locks and creates no `-wal` and `-shm` files.
pub(crate) fn reader_of_closed(path: &Path) -> Fallible<Connection> {
    let path = path.canonicalize().map_err(unavailable)?;
    let encoded: String = path.as_os_str().as_encoded_bytes().iter().copied().map(encoded).collect();
    let uri = format!("file:{encoded}?immutable=1");
    let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    connect(Path::new(&uri), access, Duration::ZERO)
}

fn encoded(byte: u8) -> String {
    match byte {
        b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    }
}

pub(crate) fn empty_in_memory() -> Fallible<Connection> {
    Ok(Connection::open_in_memory()?)
}

fn connect(path: &Path, access: OpenFlags, busy_timeout: Duration) -> Fallible<Connection> {
    let conn = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.busy_timeout(busy_timeout)?;
    conn.set_prepared_statement_cache_capacity(PREPARED_STATEMENTS);
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
    // Enables the query planner stability guarantee. Without it, joins are planned anew whenever a parameter changes,
    // which takes five times as long as the read itself.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(conn)
}

/// Switches the journal mode to WAL. The switch needs exclusive access for a moment and does not always honour the
/// busy timeout, so it is retried.
#[expect(clippy::disallowed_methods, reason = "opening happens once, at start, before anybody waits")]
fn switch_to_wal(conn: &Connection, busy_timeout: Duration) -> Fallible<()> {
    let mut left = busy_timeout;
    loop {
        match conn.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0)) {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => return Err(driver(OpenError::JournalMode(mode)).into()),
            Err(error) if is_busy(&error) && !left.is_zero() => {
                std::thread::sleep(SWITCH_PAUSE);
                left = left.saturating_sub(SWITCH_PAUSE);
            }
            Err(error) => return Err(Fault::from(error)),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn the_build_sets_the_page_cache() {
        let conn = empty_in_memory().unwrap();
        let kib: i64 = conn.query_row("PRAGMA cache_size", [], |row| row.get(0)).unwrap();
        assert_eq!(
            kib,
            -16 * 1024,
            "LIBSQLITE3_FLAGS of .cargo/config.toml have no SQLITE_DEFAULT_CACHE_SIZE"
        );
    }

    #[test]
    fn log_without_its_file_is_refused_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let log = log_of(&path);
        std::fs::write(&log, "what was written last").unwrap();
        for is_there in [false, true] {
            if is_there {
                std::fs::write(&path, "").unwrap();
            }
            let refused = create_file(&path).unwrap_err();
            assert!(format!("{refused:?}").contains("LogAlone"), "{refused:?}");
            assert_eq!(path.exists(), is_there);
            assert_eq!(std::fs::read(&log).unwrap(), b"what was written last");
        }
        std::fs::write(&log, "").unwrap(); // as a checkpoint leaves it
        create_file(&path).unwrap();
    }

    #[test]
    fn a_new_parameter_does_not_plan_a_join_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        create_file(&path).unwrap();
        let conn = writer(&path, Duration::from_secs(1)).unwrap();
        conn.execute_batch("CREATE TABLE a (x INTEGER PRIMARY KEY); CREATE TABLE b (x INTEGER PRIMARY KEY)")
            .unwrap();
        let join = "SELECT a.x, b.x FROM a LEFT JOIN b ON b.x = a.x WHERE a.x = ?1";
        let mut statement = conn.prepare(join).unwrap();
        for x in 0..10 {
            assert!(statement.query([x]).unwrap().next().unwrap().is_none());
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }
}
