//! Watch over the database's files. SQLite goes on in files that were moved, deleted or replaced beside it: what it
//! commits there is in no file that a later start opens. The files are looked at by their paths several times a second,
//! and by the writer after each commit, before it acknowledges.

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

/// How often the files are looked at while nothing is written.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The files that belong to an open database.
#[derive(Default)]
pub(crate) struct FileWatch {
    files: Vec<WatchedFile>,
    is_lost: AtomicBool,
    seen: Mutex<Seen>,
}

/// Findings of earlier looks.
#[derive(Default)]
struct Seen {
    /// Content of the main file when every file was last in its place.
    content: Option<Content>,
    /// A changed file came back, and that is logged.
    is_change_told: bool,
}

/// A path, and the file that SQLite opened there.
struct WatchedFile {
    path: PathBuf,
    key: FileKey,
}

/// Size and time of the last write.
type Content = (u64, Option<SystemTime>);

/// Looks at the files until it is dropped.
pub(crate) struct Patrol {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Something is wrong with a file.
struct Loss<'a> {
    path: &'a Path,
    what: String,
}

impl FileWatch {
    /// Of a database that `conn` has read, opened at that path.
    pub(crate) fn of(path: &Path, conn: &Connection) -> io::Result<Self> {
        // SQLite keeps the log beside the file that a symbolic link leads to.
        let opened = conn.path().unwrap_or_default();
        let beside = |suffix: &str| PathBuf::from(format!("{opened}{suffix}"));
        let paths = [std::path::absolute(path)?, beside("-wal"), beside("-shm")];
        let files = paths.into_iter().map(|path| Ok(WatchedFile { key: key_of(&path.metadata()?), path }));
        Ok(Self { files: files.collect::<io::Result<_>>()?, ..Self::default() })
    }

    /// Refuses work while a file is not in its place, as of the last look.
    pub(crate) fn ensure(&self) -> Fallible<()> {
        if self.is_lost() { Err(unavailable(EngineFault::NotInPlace).into()) } else { Ok(()) }
    }

    /// Whether a file was not in its place at the last look.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Acquire)
    }

    /// Looks at the files now; answers whether all are in their place.
    pub(crate) fn look(&self) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match (self.find_content(), self.is_lost()) {
            (Ok(content), false) => seen.content = content,
            (Ok(content), true) if content == seen.content => {
                tracing::info!("the database files are back in their place: the storage is used again");
                self.is_lost.store(false, Ordering::Release);
            }
            // Who wrote into it knew nothing of our log: both together could be any mixture.
            (Ok(_), true) if !std::mem::replace(&mut seen.is_change_told, true) => tracing::error!(
                "the database file came back changed and is not used: stop the service, restore a backup and start it"
            ),
            (Ok(_) | Err(_), true) => {}
            (Err(loss), false) => {
                self.is_lost.store(true, Ordering::Release);
                tracing::error!(
                    file = %loss.path.display(),
                    reason = loss.what,
                    "a database file is not in its place: every call that needs the storage answers 503. Put the same \
                     file back unchanged, or stop the service, restore a backup and start it"
                );
            }
        }
        !self.is_lost()
    }

    /// Content of the main file, where every file is in its place.
    fn find_content(&self) -> Result<Option<Content>, Loss<'_>> {
        let mut content = None;
        for file in &self.files {
            let found = file.check().map_err(|what| Loss { path: &file.path, what })?;
            content.get_or_insert_with(|| (found.len(), found.modified().ok()));
        }
        match content {
            // Even a new database has its first page.
            Some((0, _)) => Err(Loss { path: &self.files[0].path, what: "it was emptied".to_owned() }),
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

impl Patrol {
    /// Starts looking.
    pub(crate) fn start(files: Arc<FileWatch>) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = Builder::new().name("sqlite-files".to_owned()).spawn(move || {
            while stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                files.look();
            }
        })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Patrol {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // it runs nothing that could panic
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
        assert!(files.look());
        Opened { folder, files, conn }
    }

    #[test]
    fn each_file_is_missed_and_found_again() {
        let opened = opened();
        for name in ["test.db", "test.db-wal", "test.db-shm"] {
            fs::rename(opened.path(name), opened.path("away")).unwrap();
            assert!(!opened.files.look(), "{name}");
            assert!(opened.files.ensure().is_err());
            fs::rename(opened.path("away"), opened.path(name)).unwrap();
            assert!(opened.files.look(), "{name}");
            assert!(opened.files.ensure().is_ok());
        }
    }

    #[test]
    fn a_copy_in_the_place_of_the_file_is_another_file() {
        let opened = opened();
        fs::copy(opened.path("test.db"), opened.path("copy")).unwrap();
        fs::rename(opened.path("copy"), opened.path("test.db")).unwrap();
        assert!(!opened.files.look());
    }

    #[test]
    fn a_file_that_was_written_while_it_was_away_is_not_taken_back() {
        let opened = opened();
        fs::rename(opened.path("test.db"), opened.path("away")).unwrap();
        assert!(!opened.files.look());
        let file = fs::OpenOptions::new().append(true).open(opened.path("away")).unwrap();
        std::io::Write::write_all(&mut &file, b"more").unwrap();
        fs::rename(opened.path("away"), opened.path("test.db")).unwrap();
        assert!(!opened.files.look());
    }

    #[test]
    fn an_emptied_file_is_lost() {
        let opened = opened();
        fs::OpenOptions::new().write(true).truncate(true).open(opened.path("test.db")).unwrap();
        assert!(!opened.files.look());
    }

    #[test]
    fn a_checkpoint_changes_nothing() {
        let opened = opened();
        opened.conn.execute_batch("INSERT INTO a VALUES (1); PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        assert!(opened.files.look());
        opened.conn.execute_batch("INSERT INTO a VALUES (1)").unwrap();
        assert!(opened.files.look());
    }
}
