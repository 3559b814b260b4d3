#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::open;
use crate::statements::number;

const PATIENCE: Duration = Duration::from_secs(30);

struct Town {
    folder: TempDir,
    reads: PointReads,
    writer: Connection,
}

fn town(readers: usize) -> Town {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    open::create_file(&path).unwrap();
    let index = WalIndex::of(&path).unwrap();
    let writer = open::writer(&path, PATIENCE).unwrap();
    writer.execute_batch("CREATE TABLE nothings (id INTEGER PRIMARY KEY)").unwrap();
    let create = "CREATE TABLE things (id INTEGER PRIMARY KEY)";
    index.prove(&writer, |conn| conn.execute_batch(create).is_ok());
    let connections = (0..readers).map(|_| open::reader(&path, PATIENCE).unwrap()).collect();
    Town { reads: PointReads::start(connections, Arc::new(index)).unwrap(), folder, writer }
}

fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("test.db")
}

impl Town {
    fn count(&self) -> i64 {
        self.reads.run(count).unwrap()
    }

    /// Reads until a connection holds its snapshot.
    fn read_until_held(&self) {
        (0..=READS_BEFORE_HOLDING).for_each(|_| {
            self.count();
        });
        assert!(self.holds_snapshot());
    }

    fn holds_snapshot(&self) -> bool {
        self.reads.pool.readers.iter().any(|reader| reader.lock().unwrap().holds_snapshot)
    }
}

fn count(conn: &Connection) -> Fallible<i64> {
    number(conn, "SELECT count(*) FROM things", [])
}

fn add(conn: &Connection) {
    conn.execute_batch("INSERT INTO things DEFAULT VALUES").unwrap();
}

/// A connection of another process would behave the same.
fn neighbour(path: &Path) -> Connection {
    open::writer(path, PATIENCE).unwrap()
}

#[test]
fn held_snapshot_never_hides_a_commit() {
    let town = town(1);
    let neighbour = neighbour(&file(&town.folder));
    for round in 0..6 {
        town.read_until_held();
        add(if round % 2 == 0 { &town.writer } else { &neighbour });
        assert_eq!(town.count(), round + 1);
        assert!(!town.holds_snapshot());
    }
}

#[test]
fn commits_in_a_row_are_all_seen() {
    let town = town(2);
    town.read_until_held();
    for written in 1..500 {
        add(&town.writer);
        assert_eq!(town.count(), written);
    }
}

#[test]
fn readers_of_many_threads_see_what_was_committed_before_they_began() {
    let town = town(3);
    let written = std::sync::atomic::AtomicI64::new(0);
    std::thread::scope(|scope| {
        let (reads, written) = (&town.reads, &written);
        for _ in 0..4 {
            scope.spawn(move || {
                while written.load(Ordering::SeqCst) < 300 {
                    let before = written.load(Ordering::SeqCst);
                    let seen = reads.run(count).unwrap();
                    assert!(seen >= before, "{seen} of {before}");
                }
            });
        }
        scope.spawn(move || {
            let neighbour = neighbour(&file(&town.folder));
            for number in 1..=300 {
                add(&neighbour);
                written.store(number, Ordering::SeqCst);
                // Pauses of different lengths, so that some snapshots are held.
                (0..number % 7 * 40).for_each(|_| assert!(reads.run(count).unwrap() >= number));
            }
        });
    });
}

#[test]
fn idle_snapshot_is_released() {
    let town = town(2);
    add(&town.writer);
    town.read_until_held();
    assert!(truncates_the_log(&town.writer));
    assert!(!town.holds_snapshot());
}

#[test]
fn busy_snapshot_is_released_too() {
    let town = town(1);
    add(&town.writer);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (reads, is_over) = (&town.reads, &is_over);
        scope.spawn(move || {
            while !is_over.load(Ordering::SeqCst) {
                assert_eq!(reads.run(count).unwrap(), 1);
            }
        });
        let is_truncated = truncates_the_log(&neighbour(&file(&town.folder)));
        is_over.store(true, Ordering::SeqCst);
        assert!(is_truncated);
    });
}

/// Truncating checkpoint: waits for readers of the WAL up to the busy timeout.
fn truncates_the_log(conn: &Connection) -> bool {
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0)).unwrap() == 0
}

#[test]
fn failed_read_holds_no_snapshot() {
    let town = town(1);
    town.read_until_held();
    assert!(town.reads.run(|conn| number(conn, "SELECT nothing FROM things", [])).is_err());
    assert!(!town.holds_snapshot());
    assert_eq!(town.count(), 0);
}

#[test]
fn a_read_that_ends_its_transaction_does_not_break_the_connection() {
    let town = town(1);
    town.read_until_held();
    // SQLite does the same on a disk or memory failure.
    let failing = |conn: &Connection| -> Fallible<()> {
        conn.execute_batch("ROLLBACK").unwrap();
        Err(latchkey_store::StoreError::Conflict(latchkey_store::UniqueKey::Username).into())
    };
    let error = latchkey_store::StoreError::from(town.reads.run(failing).unwrap_err());
    assert!(matches!(error, latchkey_store::StoreError::Conflict(_)), "the read's own error");
    add(&town.writer);
    assert_eq!(town.count(), 1);
    town.read_until_held();
}

#[test]
fn commit_of_the_writer_releases_snapshots_and_none_is_held_meanwhile() {
    let town = town(2);
    town.read_until_held();
    let committing = town.reads.held_snapshots().release();
    assert!(!town.holds_snapshot());
    (0..2 * READS_BEFORE_HOLDING).for_each(|_| {
        town.count();
    });
    assert!(!town.holds_snapshot());
    drop(committing);
    town.read_until_held();
}

#[test]
fn a_panicking_read_hides_no_later_commit() {
    let town = town(1);
    town.read_until_held();
    let panicking = || town.reads.run(|_| -> Fallible<()> { panic!("a read that panics") });
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panicking)).is_err());
    add(&town.writer);
    assert_eq!(town.count(), 1);
}

#[test]
fn without_a_wal_index_no_snapshot_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder);
    open::create_file(&path).unwrap();
    let index = WalIndex::of(&path).unwrap();
    let writer = neighbour(&path);
    writer.execute_batch("CREATE TABLE things (id INTEGER PRIMARY KEY)").unwrap();
    let connections = vec![open::reader(&path, PATIENCE).unwrap()];
    let town = Town { reads: PointReads::start(connections, Arc::new(index)).unwrap(), folder, writer };
    (0..=READS_BEFORE_HOLDING).for_each(|_| {
        town.count();
    });
    assert!(!town.holds_snapshot());
    add(&town.writer);
    assert_eq!(town.count(), 1);
}
