//! Detection of database files that were moved, deleted or replaced. SQLite keeps writing to such files, but no later
//! start would open them. The paths are checked several times a second, and by the writer after each commit, before
//! the commit is acknowledged.

use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, SystemTime};

use rusqlite::Connection;

use crate::errors::{EngineFault, Fallible, unavailable};
use crate::wal_index::{FileKey, key_of};

/// Interval between periodic checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// The files of an open database (main file, WAL, WAL index), and whether they are still at their paths.
#[derive(Default)]
pub(crate) struct FileWatch {
    files: Vec<WatchedFile>,
    is_lost: AtomicBool,
    seen: Mutex<CheckState>,
}

/// State carried over from one check to the next.
#[derive(Default)]
struct CheckState {
    /// Size and modification time of the main file when all files were last at their paths.
    content: Option<Content>,
    /// True if it is already logged that the main file reappeared at its path with changed content.
    is_change_logged: bool,
}

/// A path, and the identity (device and inode) of the file that SQLite opened there.
struct WatchedFile {
    path: PathBuf,
    key: FileKey,
}

/// Size and modification time of a file.
type Content = (u64, Option<SystemTime>);

/// Handle of the thread that checks the files periodically. Dropping the handle ends the thread.
pub(crate) struct PeriodicCheck {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A database file that is missing, replaced or emptied.
struct FileFault<'a> {
    path: &'a Path,
    what: String,
}

impl FileWatch {
    /// Records the identity of the files of a database. `conn` must have been opened at this path and have read from
    /// it.
    pub(crate) fn of(path: &Path, conn: &Connection) -> io::Result<Self> {
        // If the path is a symbolic link, SQLite puts the WAL beside its target.
        let opened = conn.path().unwrap_or_default();
        let beside = |suffix: &str| PathBuf::from(format!("{opened}{suffix}"));
        let paths = [std::path::absolute(path)?, beside("-wal"), beside("-shm")];
        let files = paths.into_iter().map(|path| Ok(WatchedFile { key: key_of(&path.metadata()?), path }));
        Ok(Self { files: files.collect::<io::Result<_>>()?, ..Self::default() })
    }

    /// Fails if a file was not at its path at the last check.
    pub(crate) fn ensure(&self) -> Fallible<()> {
        if self.is_lost() { Err(unavailable(EngineFault::NotInPlace).into()) } else { Ok(()) }
    }

    /// Returns the size of the write-ahead log; `None` if it cannot be read.
    pub(crate) fn log_bytes(&self) -> Option<u64> {
        Some(self.files.get(1)?.path.metadata().ok()?.len())
    }

    /// True if a file was not at its path at the last check.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Acquire)
    }

    /// Checks the files now. Returns `true` if all are at their paths. If a file was missing at the last check, the
    /// main file must also have the same size and modification time as before.
    pub(crate) fn check(&self) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match (self.find_content(), self.is_lost()) {
            (Ok(content), false) => seen.content = content,
            (Ok(content), true) if content == seen.content => {
                tracing::info!("the database files are back in their place: the storage is used again");
                self.is_lost.store(false, Ordering::Release);
            }
            // Another process wrote to the main file without the WAL of this process. The two may be inconsistent.
            (Ok(_), true) if !std::mem::replace(&mut seen.is_change_logged, true) => tracing::error!(
                "the database file came back changed and is not used: stop the service, restore a backup and start it"
            ),
            (Ok(_) | Err(_), true) => {}
            (Err(fault), false) => {
                self.is_lost.store(true, Ordering::Release);
                tracing::error!(
                    file = %fault.path.display(),
                    reason = fault.what,
                    "a database file is not in its place: every call that needs the storage answers 503. Put the same \
                     file back unchanged, or stop the service, restore a backup and start it"
                );
            }
        }
        !self.is_lost()
    }

    /// Returns size and modification time of the main file; `None` if there are no files to watch. Fails if a file is
    /// not at its path.
    fn find_content(&self) -> Result<Option<Content>, FileFault<'_>> {
        let mut content = None;
        for file in &self.files {
            let found = file.check().map_err(|what| FileFault { path: &file.path, what })?;
            content.get_or_insert_with(|| (found.len(), found.modified().ok()));
        }
        match content {
            // An empty file was truncated: even a new database has its first page.
            Some((0, _)) => Err(FileFault { path: &self.files[0].path, what: "it was emptied".to_owned() }),
            content => Ok(content),
        }
    }
}

impl WatchedFile {
    fn check(&self) -> Result<Metadata, String> {
        match self.path.metadata() {
            Ok(found) if key_of(&found) == self.key => Ok(found),
            Ok(_) => Err("another file is there now".to_owned()),
            Err(error) if error.kind() == ErrorKind::NotFound => Err("it was moved or deleted".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl PeriodicCheck {
    pub(crate) fn start(files: Arc<FileWatch>) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = Builder::new().name("sqlite-files".to_owned()).spawn(move || {
            while stopped.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                files.check();
            }
        })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for PeriodicCheck {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // the thread cannot panic
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;

    use super::*;
    use crate::open;

    struct Opened {
        folder: tempfile::TempDir,
        files: FileWatch,
        conn: Connection,
    }

    impl Opened {
        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }
    }

    fn opened() -> Opened {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        open::create_file(&path).unwrap();
        let conn = open::writer(&path, Duration::from_secs(1)).unwrap();
        conn.execute_batch("CREATE TABLE a (x)").unwrap();
        let files = FileWatch::of(&path, &conn).unwrap();
        assert!(files.check());
        Opened { folder, files, conn }
    }

    #[test]
    fn missing_and_returned_files_are_noticed() {
        let opened = opened();
        for name in ["test.db", "test.db-wal", "test.db-shm"] {
            fs::rename(opened.path(name), opened.path("away")).unwrap();
            assert!(!opened.files.check(), "{name}");
            assert!(opened.files.ensure().is_err());
            fs::rename(opened.path("away"), opened.path(name)).unwrap();
            assert!(opened.files.check(), "{name}");
            assert!(opened.files.ensure().is_ok());
        }
    }

    #[test]
    fn a_copy_in_the_place_of_the_file_is_another_file() {
        let opened = opened();
        fs::copy(opened.path("test.db"), opened.path("copy")).unwrap();
        fs::rename(opened.path("copy"), opened.path("test.db")).unwrap();
        assert!(!opened.files.check());
    }

    #[test]
    fn a_file_that_was_written_while_it_was_away_is_not_taken_back() {
        let opened = opened();
        fs::rename(opened.path("test.db"), opened.path("away")).unwrap();
        assert!(!opened.files.check());
        let file = fs::OpenOptions::new().append(true).open(opened.path("away")).unwrap();
        std::io::Write::write_all(&mut &file, b"more").unwrap();
        fs::rename(opened.path("away"), opened.path("test.db")).unwrap();
        assert!(!opened.files.check());
    }

    #[test]
    fn an_emptied_file_is_lost() {
        let opened = opened();
        fs::OpenOptions::new().write(true).truncate(true).open(opened.path("test.db")).unwrap();
        assert!(!opened.files.check());
    }

    #[test]
    fn a_checkpoint_changes_nothing() {
        let opened = opened();
        opened.conn.execute_batch("INSERT INTO a VALUES (1); PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        assert!(opened.files.check());
        opened.conn.execute_batch("INSERT INTO a VALUES (1)").unwrap();
        assert!(opened.files.check());
    }
}
