//! Whether anybody, in any process, has committed since somebody last looked. SQLite keeps the head of its write-ahead log
//! in a file beside the database (`-shm`), mapped by all who have the database open; every commit changes its first 48
//! bytes before it returns (<https://www.sqlite.org/walformat.html>, section 2.1). Reading them takes one short system
//! call and no lock.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

/// Bytes of the head.
const HEAD: usize = 48;
/// What the head begins with, in the byte order of the machine, as long as its form is the one that is known here.
const FORMAT: [u8; 4] = 3_007_000_u32.to_ne_bytes();
/// Where the head says that it is filled in.
const IS_FILLED: usize = 12;

/// A state of the file: two are equal if and only if nothing was committed between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version([u8; HEAD]);

/// The index of one database file. Its file is opened once for all stores of this process, and closed with the last of
/// them: closing it would take away the locks that SQLite holds on it (POSIX locks belong to a process and a file, not to
/// who opened it). So this begins before the first connection of a store and ends after the last.
#[derive(Debug)]
pub(crate) struct WalIndex {
    key: FileKey,
    file: Option<Arc<File>>,
}

/// A file, by device and number.
type FileKey = (u64, u64);

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
    /// Of a database file that is there. To be asked before any connection to it is opened.
    pub(crate) fn of(database: &Path) -> io::Result<Self> {
        let key = key_of(database)?;
        shared().entry(key).or_default().stores += 1;
        Ok(Self { key, file: None })
    }

    /// Finds the index of a connection that has read. Without one there are no versions, and nothing else is amiss.
    pub(crate) fn open(&mut self, conn: &Connection) {
        let Some(path) = conn.path().filter(|path| !path.is_empty()) else { return };
        let path = PathBuf::from(format!("{path}-shm"));
        let mut all = shared();
        let shared = all.entry(self.key).or_default();
        if shared.file.is_none() {
            shared.file = File::open(path).ok().map(Arc::new);
        }
        self.file.clone_from(&shared.file);
    }

    /// The state of the file now; `None` where that cannot be told.
    pub(crate) fn version(&self) -> Option<Version> {
        let mut head = [0; HEAD];
        read_at_start(self.file.as_ref()?, &mut head).ok()?;
        (head.starts_with(&FORMAT) && head[IS_FILLED] == 1).then_some(Version(head))
    }
}

impl Drop for WalIndex {
    fn drop(&mut self) {
        let mut all = shared();
        self.file = None;
        if let Some(shared) = all.get_mut(&self.key) {
            shared.stores -= 1;
            if shared.stores == 0 {
                all.remove(&self.key); // closes the file, while no other store can come to it
            }
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn key_of(file: &Path) -> io::Result<FileKey> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(file)?;
    Ok((metadata.dev(), metadata.ino()))
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn read_at_start(file: &File, head: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, head, 0)
}

/// Elsewhere a file and its mapping may differ for a while, or locks work in other ways: nothing is told.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn key_of(_: &Path) -> io::Result<FileKey> {
    Ok((0, 0))
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
        let mut index = WalIndex::of(&path).unwrap();
        let conn = open::writer(&path, Duration::from_secs(1)).unwrap();
        conn.execute_batch("CREATE TABLE a (x)").unwrap();
        index.open(&conn);
        (folder, index, conn)
    }

    #[test]
    fn every_commit_makes_another_version() {
        let (folder, index, conn) = database();
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
    fn reads_and_what_is_rolled_back_leave_the_version() {
        let (_folder, index, conn) = database();
        let before = index.version().unwrap();
        conn.query_row("SELECT count(*) FROM a", [], |_| Ok(())).unwrap();
        conn.execute_batch("BEGIN IMMEDIATE; INSERT INTO a VALUES (1); ROLLBACK").unwrap();
        assert_eq!(index.version(), Some(before));
    }

    #[test]
    fn the_locks_of_another_store_survive_the_end_of_one() {
        let (folder, index, conn) = database();
        let path = folder.path().join("test.db");
        let mut second = WalIndex::of(&path).unwrap();
        second.open(&conn);
        drop(index);
        assert!(second.version().is_some());
        assert_eq!(shared().get(&key_of(&path).unwrap()).unwrap().stores, 1);
    }
}
