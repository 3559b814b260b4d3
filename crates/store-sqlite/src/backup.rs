//! Backup of a database file beside a running service, and the examination of a copy. `latchkey backup` and `latchkey
//! restore` decide on names, manifests and secrets.

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroU32;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use latchkey_domain::time::Timestamp;
use latchkey_store::{StoreError, StoredSigningKey};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode, ffi};

use crate::bulk::{self, SourceError};
use crate::errors::Fault;
use crate::inspection::{is_secret_replaced, list_keys};
use crate::options::LogAtClose;
use crate::statements::{list, number};
use crate::store::Sqlite;
use crate::{migrations, open};

/// Maximum time to wait for a lock of another process.
const PATIENCE: Duration = Duration::from_secs(30);
/// Pages of one step of a copy: 256 KiB.
const STEP: i32 = 64;
/// A copy pauses for this multiple of the time that the disk took for a step.
const PAUSE: u32 = 2;

/// Place of `PRAGMA application_id` in the header of a file, which has the mark.
const MARK_AT: usize = 68;

const CHECK_INTEGRITY: &str = "PRAGMA integrity_check(1)";
const CHECK_REFERENCES: &str = "SELECT \"table\" FROM pragma_foreign_key_check LIMIT 1";
const COUNT_USERS: &str = "SELECT count(*) FROM users";
const ANY_TABLE: &str = "SELECT name FROM sqlite_schema LIMIT 1";
const NEWEST_MIGRATION: &str = "SELECT name FROM schema_migrations ORDER BY version DESC LIMIT 1";

/// Reason why a database cannot be backed up, or a copy is not good.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A lock of another process was not released in time.
    #[error("another process holds a lock on the database: run the command again")]
    Locked,
    /// `PRAGMA integrity_check` found a fault.
    #[error("the file is damaged: {0}")]
    Damaged(String),
    /// A row refers to a row that is not there.
    #[error("the file is damaged: a row of the table {0} refers to nothing")]
    Dangling(String),
    /// The log beside the file is that of another database, or an older one.
    #[error(
        "the log beside the file (-wal) is not its own: it is of another database, or older than the file"
    )]
    StrangeLog,
    /// The file has no tables.
    #[error("the file has no migration, so it is no database of this service")]
    Empty,
    /// A fault of the copy's disk or folder, not of the database.
    #[error(transparent)]
    Target(StoreError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CopyError {
    fn of_target(error: rusqlite::Error) -> Self {
        Self::Target(Fault::from(error).into())
    }
}

impl From<Fault> for CopyError {
    fn from(fault: Fault) -> Self {
        Self::Store(fault.into())
    }
}

impl From<rusqlite::Error> for CopyError {
    fn from(error: rusqlite::Error) -> Self {
        Fault::from(error).into()
    }
}

/// What tells a database file from others, and from earlier states of its own (<https://sqlite.org/fileformat2.html>, 1.3).
/// All are zero in a file that is empty yet.
struct Header {
    /// Grows with commits that write the first page.
    changes: u32,
    /// Number that tells the database from others, as [`Sqlite::mark_of`] returns it; 0 if it has none yet.
    mark: u32,
}

impl Header {
    fn read(path: &Path) -> Result<Self, CopyError> {
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(100).read_to_end(&mut bytes));
        read.map_err(|error| CopyError::Target(StoreError::Unavailable(Box::new(error))))?;
        let number = |at: usize| {
            let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
            u32::from_be_bytes(four.unwrap_or_default())
        };
        Ok(Self { changes: number(24), mark: number(MARK_AT) })
    }

    fn follows(&self, before: &Self) -> bool {
        self.changes >= before.changes && (before.mark == 0 || self.mark == before.mark)
    }
}

/// Contents of a copy that passed all checks.
#[derive(Debug)]
pub struct Examined {
    /// Name of the newest applied migration.
    pub migration: String,
    /// Number of accounts.
    pub users: u64,
    /// Signing keys that may verify a token; empty if migrations are missing.
    pub signing_keys: Vec<StoredSigningKey>,
    /// True if a replacement of the server secret was not finished; false if migrations are missing.
    pub is_secret_replaced: bool,
    /// Number that tells the database from others, see [`Sqlite::mark_of`].
    pub mark: Option<NonZeroU32>,
}

impl Sqlite {
    /// Copies a database into the empty file `target`. A service may have the database open, and write meanwhile: the
    /// copy is made in one read transaction, for which writers do not wait. Without it a copy in several steps would start
    /// over at every commit of another process, and never end beside a busy service.
    pub fn back_up(source: &Path, target: &Path, log: LogAtClose) -> Result<(), CopyError> {
        let from = open::copier(source, PATIENCE)?;
        open::keep_log(&from, log == LogAtClose::Kept)?;
        let mut to = Connection::open(target).map_err(CopyError::of_target)?;
        // The steps sync the file; a crash leaves a file that is not used.
        to.pragma_update(None, "synchronous", "OFF").map_err(CopyError::of_target)?;
        let read = from.unchecked_transaction()?;
        begin(&read)?;
        copy_in_steps(&read, &mut to, target)?;
        drop(to);
        leave_wal_mode(target).map_err(CopyError::of_target)
    }

    /// Checks a file that no process has open: integrity, references, and migrations that this version knows. Changes
    /// nothing, and leaves no file beside it.
    pub fn examine(path: &Path, now: Timestamp) -> Result<Examined, CopyError> {
        open::refuse_missing(path)?;
        let conn = open::reader_of_closed(path)?;
        if let Some(fault) = texts(&conn, CHECK_INTEGRITY)?.into_iter().find(|line| line != "ok") {
            return Err(CopyError::Damaged(fault));
        }
        if let Some(table) = texts(&conn, CHECK_REFERENCES)?.into_iter().next() {
            return Err(CopyError::Dangling(table));
        }
        let missing = migrations::check(&conn)?;
        let migration = migrations::is_begun(&conn)?.then(|| texts(&conn, NEWEST_MIGRATION)).transpose()?;
        let migration = migration.and_then(|names| names.into_iter().next()).ok_or(CopyError::Empty)?;
        let users = u64::try_from(number(&conn, COUNT_USERS, [])?).unwrap_or_default();
        let signing_keys = if missing.is_empty() { list_keys(&conn, now)? } else { Vec::new() };
        let is_secret_replaced = missing.is_empty() && is_secret_replaced(&conn)?;
        let mark = migrations::mark_of(&conn)?;
        Ok(Examined { migration, users, signing_keys, is_secret_replaced, mark })
    }

    /// Writes what the log beside a copy has into the copy, and deletes the log. No process may have the copy open. Refuses
    /// a log that would make another or an older database of it: SQLite does not tell whose log it is.
    pub fn fold_log(copy: &Path) -> Result<(), CopyError> {
        let before = Header::read(copy)?;
        leave_wal_mode(copy)?;
        if Header::read(copy)?.follows(&before) { Ok(()) } else { Err(CopyError::StrangeLog) }
    }

    /// Fails if a process has the file open. The check takes no lock itself.
    pub fn refuse_if_in_use(path: &Path) -> Result<(), SourceError> {
        bulk::refuse_if_in_use(path)
    }
}

/// Begins a deferred transaction with its first statement.
fn begin(read: &Connection) -> Result<(), CopyError> {
    match read.prepare(ANY_TABLE).and_then(|mut statement| statement.exists([])) {
        Err(rusqlite::Error::SqliteFailure(fault, _)) if fault.code == ErrorCode::DatabaseBusy => {
            Err(CopyError::Locked)
        }
        done => Ok(done.map(drop)?),
    }
}

/// Copies all pages, and gives the disk back to the service after each step. Of one large write the disk would have so much
/// to do that a commit of the service waits for half a second.
fn copy_in_steps(from: &Connection, to: &mut Connection, target: &Path) -> Result<(), CopyError> {
    let of_file = |error| CopyError::Target(StoreError::Unavailable(Box::new(error)));
    // Closing it releases SQLite's locks on the copy, which no other process knows yet.
    let file = File::open(target).map_err(of_file)?;
    let backup = Backup::new(from, to)?;
    loop {
        let stepped = backup.step(STEP).map_err(|error| {
            if is_of_target(&error, target) { CopyError::of_target(error) } else { error.into() }
        })?;
        match stepped {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            _ => return Err(CopyError::Locked),
        }
        sync_and_pause(&file).map_err(of_file)?;
    }
}

#[expect(clippy::disallowed_methods, reason = "the thread of the copy waits as long as the disk asks for")]
fn sync_and_pause(file: &File) -> io::Result<()> {
    let begun = Instant::now();
    file.sync_data()?;
    thread::sleep(begun.elapsed() * PAUSE);
    Ok(())
}

/// Changes the journal mode in the file's header, so that a reader of the copy needs no files beside it.
fn leave_wal_mode(copy: &Path) -> rusqlite::Result<()> {
    let conn = Connection::open(copy)?;
    conn.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))
}

/// True if a fault of the step that copies is one of the copy: the database is only read. SQLite does not tell the two files
/// apart, but the copy alone is written.
fn is_of_target(error: &rusqlite::Error, target: &Path) -> bool {
    let rusqlite::Error::SqliteFailure(fault, _) = error else { return false };
    let is_of_write = matches!(
        fault.extended_code,
        ffi::SQLITE_IOERR_WRITE
            | ffi::SQLITE_IOERR_FSYNC
            | ffi::SQLITE_IOERR_DIR_FSYNC
            | ffi::SQLITE_IOERR_TRUNCATE
            | ffi::SQLITE_IOERR_DELETE
    );
    is_of_write || matches!(fault.code, ErrorCode::DiskFull | ErrorCode::ReadOnly) || !target.exists()
}

fn texts(conn: &Connection, sql: &str) -> Result<Vec<String>, CopyError> {
    Ok(list(conn, sql, [], |cells| Ok(cells.of("backup").text("text")?.to_owned()))?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::options::SqliteOptions;

    const NOW: Timestamp = Timestamp::from_millis(0);

    fn backed_up() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (source, copy) = (folder.path().join("source.db"), folder.path().join("copy.db"));
        let store = Sqlite::open(&source).unwrap();
        Sqlite::back_up(&source, &copy, LogAtClose::Folded).unwrap();
        drop(store);
        (folder, copy)
    }

    #[test]
    fn copy_in_many_steps_ends_beside_commits_and_has_none_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let (source, copy) = (folder.path().join("source.db"), folder.path().join("copy.db"));
        let store = Sqlite::open(&source).unwrap();
        let filled = Connection::open(&source).unwrap().execute_batch(
            "CREATE TABLE ballast (bytes BLOB) STRICT; INSERT INTO ballast VALUES (zeroblob(4000000))",
        );
        filled.unwrap();
        let is_done = AtomicBool::new(false);

        let commits = thread::scope(|scope| {
            let writing = scope.spawn(|| {
                let writer = Connection::open(&source).unwrap();
                let mut commits = 0_u32;
                while !is_done.load(Ordering::Relaxed) {
                    commits += 1;
                    writer.execute_batch("INSERT INTO ballast VALUES (zeroblob(1))").unwrap();
                }
                commits
            });
            Sqlite::back_up(&source, &copy, LogAtClose::Folded).unwrap();
            is_done.store(true, Ordering::Relaxed);
            writing.join().unwrap()
        });
        drop(store);

        let copied = number(&Connection::open(&copy).unwrap(), "SELECT count(*) FROM ballast", []).unwrap();
        assert!(commits > 4, "the writer waited for the copy");
        assert!(copied < i64::from(commits), "a copy of one moment has {copied} rows of {commits}");
    }

    fn names(folder: &tempfile::TempDir) -> Vec<String> {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn copy_of_an_open_database_is_one_good_file() {
        let (folder, copy) = backed_up();

        let examined = Sqlite::examine(&copy, NOW).unwrap();

        assert_eq!((examined.users, examined.signing_keys.len()), (0, 0));
        assert_eq!(names(&folder), ["copy.db", "source.db"]);
    }

    #[test]
    fn copies_have_the_mark_of_the_database_which_it_keeps() {
        let folder = tempfile::tempdir().unwrap();
        let (source, copy) = (folder.path().join("source.db"), folder.path().join("copy.db"));
        for mark in [0xFEDC_BA98, 7] {
            let options = SqliteOptions { mark: NonZeroU32::new(mark), ..SqliteOptions::default() };
            drop(Sqlite::open_with(&source, options).unwrap());
        }

        Sqlite::back_up(&source, &copy, LogAtClose::Folded).unwrap();

        let marks = (Sqlite::mark_of(&source).unwrap(), Sqlite::examine(&copy, NOW).unwrap().mark);
        assert_eq!(marks, (NonZeroU32::new(0xFEDC_BA98), NonZeroU32::new(0xFEDC_BA98)));
    }

    #[test]
    fn fault_of_the_copy_is_told_from_one_of_the_database() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("source.db");
        drop(Sqlite::open(&source).unwrap());

        let no_folder = Sqlite::back_up(&source, &folder.path().join("nowhere/copy.db"), LogAtClose::Folded);
        let no_source =
            Sqlite::back_up(&folder.path().join("x.db"), &folder.path().join("y.db"), LogAtClose::Folded);

        assert!(matches!(no_folder, Err(CopyError::Target(_))), "{no_folder:?}");
        assert!(matches!(no_source, Err(CopyError::Store(_))), "{no_source:?}");
    }

    #[test]
    fn damaged_copy_is_not_good() {
        let (_folder, copy) = backed_up();
        let mut bytes = std::fs::read(&copy).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..middle + 4096].fill(0xA5);
        std::fs::write(&copy, bytes).unwrap();

        assert!(Sqlite::examine(&copy, NOW).is_err());
    }

    #[test]
    fn row_that_refers_to_nothing_is_found() {
        let (_folder, copy) = backed_up();
        let conn = Connection::open(&copy).unwrap();
        conn.pragma_update(None, "foreign_keys", false).unwrap();
        conn.execute("INSERT INTO recovery_codes (user_id, mac, created_at) VALUES (randomblob(16), randomblob(32), 0)", [])
            .unwrap();
        drop(conn);

        let found = Sqlite::examine(&copy, NOW);

        assert!(matches!(&found, Err(CopyError::Dangling(table)) if table == "recovery_codes"), "{found:?}");
    }

    #[test]
    fn file_without_tables_is_no_backup() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("empty.db");
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 1).unwrap();

        assert!(matches!(Sqlite::examine(&path, NOW), Err(CopyError::Empty)));
    }
}
