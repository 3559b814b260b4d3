//! Detection of commits by any process. SQLite maintains the header of the WAL index in a file beside the database
//! (`-shm`), which every process that has the database open maps into memory. Every commit changes the first 48 bytes
//! of this header before the commit returns (<https://www.sqlite.org/walformat.html>, section 2.1). Reading these bytes
//! takes one short system call and no lock. Only this file depends on the format. The rest of the crate calls
//! [`WalIndex::version`] and compares two results. It also works if the result is `None`.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rusqlite::Connection;

/// Length of the WAL index header in bytes.
const HEAD: usize = 48;
/// First four bytes (`iVersion`) of a WAL index header in the supported format, in native byte order.
const FORMAT: [u8; 4] = 3_007_000_u32.to_ne_bytes();
/// Offset in the header of `isInit`, which is 1 once the header is filled in.
const IS_FILLED: usize = 12;

/// Copy of the WAL index header. Two copies are equal if and only if nothing was committed between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version([u8; HEAD]);

/// WAL index of one database file. All stores of this process that open the same file share one file descriptor, which
/// is closed with the last of these stores. Closing any descriptor of the file drops the POSIX locks that SQLite holds
/// on the file, because such locks belong to process and inode. Therefore a `WalIndex` is created before the first
/// connection of a store and dropped after the last.
#[derive(Debug)]
pub(crate) struct WalIndex {
    key: FileKey,
    file: OnceLock<Arc<File>>,
    /// True once a commit of this process has visibly changed the header. Until then no version is reported: the file
    /// may not be SQLite's, or the file system may not show changes made through a memory mapping.
    is_proven: AtomicBool,
}

/// Identity of a file: device and inode.
pub(crate) type FileKey = (u64, u64);

#[derive(Default)]
struct Shared {
    stores: usize,
    file: Option<Arc<File>>,
}

static SHARED: Mutex<BTreeMap<FileKey, Shared>> = Mutex::new(BTreeMap::new());

fn shared() -> MutexGuard<'static, BTreeMap<FileKey, Shared>> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl WalIndex {
    /// Registers one more store that uses an existing database file; [`Self::prove`] opens the WAL index later. Must be
    /// called before any connection to the file is opened.
    pub(crate) fn of(database: &Path) -> io::Result<Self> {
        let key = key_of(&std::fs::metadata(database)?);
        shared().entry(key).or_default().stores += 1;
        Ok(Self { key, file: OnceLock::new(), is_proven: AtomicBool::new(false) })
    }

    /// Opens the WAL index and checks that a commit changes its header. `conn` must have read from the database
    /// already. `commit` changes a page in a transaction, and returns `true` if the transaction was committed. If it
    /// was not, [`Self::version`] keeps returning `None`.
    pub(crate) fn prove(&self, conn: &Connection, commit: impl FnOnce(&Connection) -> bool) {
        self.open(conn);
        let before = self.read();
        if commit(conn) {
            self.learn(before);
        }
    }

    /// Opens the WAL index of a connection that has read from the database. If there is no WAL index,
    /// [`Self::version`] returns `None`, and everything else works.
    fn open(&self, conn: &Connection) {
        let Some(path) = conn.path().filter(|path| !path.is_empty()) else { return };
        let path = PathBuf::from(format!("{path}-shm"));
        let mut all = shared();
        let shared = all.entry(self.key).or_default();
        if shared.file.is_none() {
            shared.file = File::open(&path).ok().map(Arc::new);
        }
        // SQLite may have created the file anew between two stores.
        let is_same = |file: &Arc<File>| {
            let (ours, theirs) = (file.metadata().ok(), std::fs::metadata(&path).ok());
            ours.zip(theirs).is_some_and(|(ours, theirs)| key_of(&ours) == key_of(&theirs))
        };
        if let Some(file) = shared.file.as_ref().filter(|file| is_same(file)) {
            let _ = self.file.set(Arc::clone(file)); // set only once, since the file is opened once
        }
    }

    /// Returns the current version, or `None` if it cannot be determined.
    pub(crate) fn version(&self) -> Option<Version> {
        if self.is_proven.load(Ordering::Relaxed) { self.read() } else { None }
    }

    /// Reads the current header, whether or not [`Self::prove`] has succeeded.
    fn read(&self) -> Option<Version> {
        let mut head = [0; HEAD];
        read_at_start(self.file.get()?, &mut head).ok()?;
        (head.starts_with(&FORMAT) && head[IS_FILLED] == 1).then_some(Version(head))
    }

    /// Sets `is_proven` if the header differs from `before`, the header before a commit of this process. That commit
    /// must have changed a page. (A number of changed rows does not show this: replacing a value with itself writes no
    /// page.)
    fn learn(&self, before: Option<Version>) {
        if before.is_some() && self.read() != before {
            self.is_proven.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for WalIndex {
    fn drop(&mut self) {
        let mut all = shared();
        self.file.take();
        if let Some(shared) = all.get_mut(&self.key) {
            shared.stores -= 1;
            if shared.stores == 0 {
                all.remove(&self.key); // closes the file under the lock, so that no other store uses it
            }
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) fn key_of(file: &Metadata) -> FileKey {
    use std::os::unix::fs::MetadataExt;
    (file.dev(), file.ino())
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn read_at_start(file: &File, head: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, head, 0)
}

/// Returns the same identity for every file on operating systems other than Linux and macOS. No version is reported
/// there, because a file and its mapping may differ for a while, or locks work differently.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) fn key_of(_: &Metadata) -> FileKey {
    (0, 0)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn read_at_start(_: &File, _: &mut [u8]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::time::Duration;

    use super::*;
    use crate::open;

    fn database() -> (tempfile::TempDir, WalIndex, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        open::create_file(&path).unwrap();
        let index = WalIndex::of(&path).unwrap();
        let conn = open::writer(&path, Duration::from_secs(1)).unwrap();
        conn.execute_batch("CREATE TABLE a (x)").unwrap();
        index.open(&conn);
        (folder, index, conn)
    }

    fn proven() -> (tempfile::TempDir, WalIndex, Connection) {
        let (folder, index, conn) = database();
        let before = index.read();
        conn.execute_batch("INSERT INTO a VALUES (1)").unwrap();
        index.learn(before);
        (folder, index, conn)
    }

    #[test]
    fn no_version_is_reported_before_a_visible_commit() {
        let (_folder, index, conn) = database();
        assert_eq!(index.version(), None);
        let before = index.read();
        conn.execute_batch("INSERT INTO a VALUES (1)").unwrap();
        index.learn(before);
        assert!(index.version().is_some());
    }

    #[test]
    fn invisible_commit_proves_nothing() {
        let (_folder, index, conn) = database();
        index.learn(index.read());
        assert_eq!(index.version(), None);
        conn.execute_batch("INSERT INTO a VALUES (1)").unwrap();
        index.learn(None);
        assert_eq!(index.version(), None);
    }

    #[test]
    fn index_of_a_closed_store_is_not_reused_for_the_next() {
        let (folder, first, conn) = proven();
        let path = folder.path().join("test.db");
        let second = WalIndex::of(&path).unwrap();
        drop(conn); // closing the last connection deletes the index file
        let conn = open::writer(&path, Duration::from_secs(1)).unwrap();
        conn.query_row("SELECT count(*) FROM a", [], |_| Ok(())).unwrap();
        second.open(&conn);
        assert_eq!(second.read(), None);
        drop(first);
    }

    #[test]
    fn every_commit_makes_another_version() {
        let (folder, index, conn) = proven();
        let other = open::writer(&folder.path().join("test.db"), Duration::from_secs(1)).unwrap();
        let mut seen = vec![index.version().unwrap()];
        for round in 0..50 {
            let conn = if round % 2 == 0 { &conn } else { &other };
            conn.execute_batch("INSERT INTO a VALUES (1)").unwrap();
            if round % 10 == 9 {
                conn.execute_batch("PRAGMA wal_checkpoint(RESTART)").unwrap();
            }
            let version = index.version().unwrap();
            assert!(!seen.contains(&version), "round {round}");
            seen.push(version);
        }
    }

    #[test]
    fn a_header_that_is_short_unknown_or_unfilled_is_no_version() {
        let mut good = [0; HEAD];
        good[..FORMAT.len()].copy_from_slice(&FORMAT);
        good[IS_FILLED] = 1;
        let of = |bytes: &[u8]| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("test.db");
            std::fs::write(&path, bytes).unwrap();
            let index = WalIndex::of(&path).unwrap();
            index.file.set(Arc::new(File::open(&path).unwrap())).unwrap();
            index.is_proven.store(true, Ordering::Relaxed);
            index.version()
        };
        let changed = |at: usize| {
            let mut bytes = good;
            bytes[at] ^= 1;
            bytes
        };
        assert!(of(&good).is_some());
        assert_eq!(of(&good[..HEAD - 1]), None);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&changed(0)), None);
        assert_eq!(of(&changed(IS_FILLED)), None);
    }

    #[test]
    fn reads_and_what_is_rolled_back_leave_the_version() {
        let (_folder, index, conn) = proven();
        let before = index.version().unwrap();
        conn.query_row("SELECT count(*) FROM a", [], |_| Ok(())).unwrap();
        conn.execute_batch("BEGIN IMMEDIATE; INSERT INTO a VALUES (1); ROLLBACK").unwrap();
        assert_eq!(index.version(), Some(before));
    }

    #[test]
    fn the_locks_of_another_store_survive_the_end_of_one() {
        let (folder, index, conn) = database();
        let path = folder.path().join("test.db");
        let second = WalIndex::of(&path).unwrap();
        second.open(&conn);
        let key = index.key;
        drop(index);
        assert!(second.read().is_some());
        assert_eq!(shared().get(&key).unwrap().stores, 1);
    }
}
