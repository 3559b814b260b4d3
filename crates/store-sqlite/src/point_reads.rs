//! Point reads, executed on the calling thread. Starting and ending a read transaction takes locks shared by all
//! connections, which is a third of the cost of the read. While there are no writes, a connection therefore keeps its
//! snapshot open across reads. Before each read the connection checks that the snapshot is still the
//! newest ([`crate::wal_index`]). A read thus sees everything that any connection committed before the read began, as
//! without the optimisation.
//!
//! An open snapshot prevents a checkpoint of the WAL. A connection therefore holds its snapshot only after a number of
//! consecutive reads saw no commit. The snapshot is released by the first read that sees a commit, by the writer
//! before its own commits, and by a background thread after a short time, whether or not reads still use it.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use crate::errors::Fallible;
use crate::statements::execute;
use crate::wal_index::{Version, WalIndex};

/// Number of consecutive reads that saw no commit, after which a connection keeps its snapshot open across
/// reads.
const READS_BEFORE_HOLDING: u32 = 64;
/// Maximum time for which a connection keeps its snapshot open.
const HELD_FOR: Duration = Duration::from_millis(50);

/// Pool of connections for point reads, and the thread that releases their snapshots.
pub(crate) struct PointReads {
    pool: Arc<Pool>,
    thread: Option<JoinHandle<()>>,
}

/// Handle by which the writer makes connections end the read transactions that they keep open across reads
/// ("held" snapshots). It does so before each commit; otherwise they would block a checkpoint after the
/// commit.
#[derive(Default)]
pub(crate) struct HeldSnapshots(Weak<Pool>);

/// Guard of a commit by the writer. No connection begins to hold a snapshot until the guard is dropped.
#[must_use = "dropping it says that the commit is over"]
pub(crate) struct Committing(Option<Arc<Pool>>);

struct Pool {
    /// Connections, each behind a mutex. A thread tries the same connection first each time, so that threads seldom
    /// contend.
    readers: Vec<Mutex<Reader>>,
    index: Arc<WalIndex>,
    /// Counter that is incremented before and after each commit of this process: odd during a commit (seqlock).
    commits: AtomicU64,
    signal: Mutex<ReleaseSignal>,
    changed: Condvar,
}

/// Signals that the pool sends to the background thread, which waits for them at the condition variable `changed`.
#[derive(Default)]
struct ReleaseSignal {
    /// True if a connection began to keep a snapshot open since the thread last checked.
    has_begun: bool,
    is_closed: bool,
}

struct Reader {
    conn: Connection,
    /// Version of the database at the connection's last read.
    seen: Option<Version>,
    unchanged_reads: u32,
    /// True if the connection is in a transaction whose snapshot has the version `seen`.
    holds_snapshot: bool,
}

impl PointReads {
    /// Starts the background thread. There must be at least one connection.
    pub(crate) fn start(connections: Vec<Connection>, index: Arc<WalIndex>) -> std::io::Result<Self> {
        let readers = connections.into_iter().map(|conn| Mutex::new(Reader::new(conn))).collect();
        let pool = Arc::new(Pool {
            readers,
            index,
            commits: AtomicU64::new(0),
            signal: Mutex::default(),
            changed: Condvar::new(),
        });
        let theirs = Arc::clone(&pool);
        let builder = std::thread::Builder::new().name("sqlite-snapshots".to_owned());
        let thread = builder.spawn(move || theirs.release())?;
        Ok(Self { pool, thread: Some(thread) })
    }

    pub(crate) fn held_snapshots(&self) -> HeldSnapshots {
        HeldSnapshots(Arc::downgrade(&self.pool))
    }

    pub(crate) fn run<T>(&self, read: impl FnOnce(&Connection) -> Fallible<T>) -> Fallible<T> {
        let mut reader = self.pool.reader();
        let commits = self.pool.commits.load(Ordering::SeqCst);
        // The version is read under the lock of the connection. A version from before another read of this connection
        // could be older than its snapshot.
        let version = self.pool.index.version();
        if reader.prepare(version, commits.is_multiple_of(2))? {
            self.pool.request_release();
        }
        let outcome = read(&reader.conn);
        let is_over = outcome.is_err() || self.pool.commits.load(Ordering::SeqCst) != commits;
        if is_over && reader.release().is_err() {
            self.pool.request_release(); // the result is correct all the same, for its snapshot
        }
        outcome
    }
}

impl HeldSnapshots {
    /// Releases the snapshots of idle connections. A busy connection releases its snapshot when its read ends. While
    /// the returned guard exists, no connection begins to hold a snapshot.
    pub(crate) fn release(&self) -> Committing {
        let pool = self.0.upgrade();
        if let Some(pool) = &pool {
            pool.commits.fetch_add(1, Ordering::SeqCst);
            for mut reader in pool.readers.iter().filter_map(try_lock) {
                if reader.release().is_err() {
                    pool.request_release();
                }
            }
        }
        Committing(pool)
    }
}

impl Drop for Committing {
    fn drop(&mut self) {
        if let Some(pool) = &self.0 {
            pool.commits.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Drop for PointReads {
    fn drop(&mut self) {
        self.pool.signal().is_closed = true;
        self.pool.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // the thread cannot panic
        }
    }
}

impl Pool {
    fn reader(&self) -> MutexGuard<'_, Reader> {
        let count = self.readers.len();
        let own = thread_number() % count;
        let free = (0..count).find_map(|step| try_lock(&self.readers[(own + step) % count]));
        free.unwrap_or_else(|| lock(&self.readers[own]))
    }

    fn signal(&self) -> MutexGuard<'_, ReleaseSignal> {
        self.signal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the background thread, which releases all snapshots after [`HELD_FOR`].
    fn request_release(&self) {
        self.signal().has_begun = true;
        self.changed.notify_one();
    }

    /// Runs the background thread: sleeps until a snapshot is held, and releases all snapshots after [`HELD_FOR`].
    fn release(&self) {
        let mut signal = self.signal();
        while !signal.is_closed {
            if std::mem::take(&mut signal.has_begun) {
                let wait = self.changed.wait_timeout_while(signal, HELD_FOR, |signal| !signal.is_closed);
                drop(wait.unwrap_or_else(PoisonError::into_inner).0);
                let failed = self.readers.iter().filter(|reader| !release(reader)).count();
                signal = self.signal();
                signal.has_begun |= failed > 0;
            } else {
                signal = self.changed.wait(signal).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

/// Locks a connection, or returns `None` if it is in use.
fn try_lock(reader: &Mutex<Reader>) -> Option<MutexGuard<'_, Reader>> {
    match reader.try_lock() {
        Ok(reader) => Some(reader),
        Err(TryLockError::Poisoned(reader)) => Some(reader.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Releases the snapshot of a connection. If that fails, logs the failure and returns `false`.
fn release(reader: &Mutex<Reader>) -> bool {
    let outcome = lock(reader).release().map_err(latchkey_store::StoreError::from);
    if let Err(error) = &outcome {
        tracing::error!(%error, "a read transaction could not be ended");
    }
    outcome.is_ok()
}

fn lock(reader: &Mutex<Reader>) -> MutexGuard<'_, Reader> {
    reader.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Reader {
    const fn new(conn: Connection) -> Self {
        Self { conn, seen: None, unchanged_reads: 0, holds_snapshot: false }
    }

    /// Prepares the connection for a read at this version of the database. Returns `true` if the connection begins to
    /// hold a snapshot.
    fn prepare(&mut self, version: Option<Version>, may_hold: bool) -> Fallible<bool> {
        if version.is_none() || version != self.seen {
            self.release()?;
            (self.seen, self.unchanged_reads) = (version, 0);
            return Ok(false);
        }
        if self.holds_snapshot {
            return Ok(false);
        }
        self.unchanged_reads = self.unchanged_reads.saturating_add(1);
        let holds = may_hold && self.unchanged_reads >= READS_BEFORE_HOLDING;
        if holds {
            // BEGIN is deferred: the first read takes the snapshot, so the snapshot is not older than the version.
            execute(&self.conn, "BEGIN", [])?;
            self.holds_snapshot = true;
        }
        Ok(holds)
    }

    /// Releases the snapshot by ending the transaction. After a failure no read may follow, because it would use the
    /// old snapshot.
    fn release(&mut self) -> Fallible<()> {
        if self.holds_snapshot {
            self.unchanged_reads = 0;
            // SQLite itself ends a transaction on some disk or memory failures.
            if !self.conn.is_autocommit() {
                execute(&self.conn, "COMMIT", [])?;
            }
            self.holds_snapshot = false;
        }
        Ok(())
    }
}

/// Returns the number of the calling thread, in order of first use.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: Cell<Option<usize>> = const { Cell::new(None) };
    }
    OWN.with(|own| {
        own.get().unwrap_or_else(|| {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            own.set(Some(number));
            number
        })
    })
}

#[cfg(test)]
mod tests;
