//! Reads of a few indexed rows, on the thread that asks. Beginning and ending a read takes locks that all connections
//! share, a third of what the read itself takes. So where nobody writes, a connection keeps its snapshot open from one
//! read to the next, and looks before each read whether it is still the newest ([`crate::wal_index`]): what was committed
//! anywhere before a read began is seen by it, as without.
//!
//! A snapshot that stays open would keep the log from being written back. It is kept only after some reads in a row saw no
//! commit, and let go by the first that does, or by a thread after a moment, whether it is used or not.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use crate::errors::Fallible;
use crate::statements::execute;
use crate::wal_index::{Version, WalIndex};

/// Reads without a commit between them, after which a connection keeps its snapshot.
const QUIET_READS: u32 = 64;
/// How long a snapshot is kept at the most.
const KEPT_FOR: Duration = Duration::from_millis(50);

/// Connections for point reads, each behind a lock.
pub(crate) struct PointReads {
    pool: Arc<Pool>,
    thread: Option<JoinHandle<()>>,
}

struct Pool {
    /// A thread tries its own one first, so that threads seldom meet.
    readers: Vec<Mutex<Reader>>,
    index: Arc<WalIndex>,
    keeping: Mutex<Keeping>,
    changed: Condvar,
}

/// What the thread that lets go waits for.
#[derive(Default)]
struct Keeping {
    /// A snapshot was kept since the thread last asked.
    has_begun: bool,
    is_closed: bool,
}

struct Reader {
    conn: Connection,
    /// The file's version at the last read, and reads since it is that.
    seen: Option<Version>,
    quiet_reads: u32,
    /// The connection is in a transaction whose snapshot is of the version that was seen.
    is_keeping: bool,
}

impl PointReads {
    /// Takes the connections, at least one.
    pub(crate) fn start(connections: Vec<Connection>, index: Arc<WalIndex>) -> std::io::Result<Self> {
        let readers = connections.into_iter().map(|conn| Mutex::new(Reader::new(conn))).collect();
        let pool = Arc::new(Pool { readers, index, keeping: Mutex::default(), changed: Condvar::new() });
        let theirs = Arc::clone(&pool);
        let builder = std::thread::Builder::new().name("sqlite-snapshots".to_owned());
        let thread = builder.spawn(move || theirs.let_go())?;
        Ok(Self { pool, thread: Some(thread) })
    }

    /// Runs a read on the calling thread.
    pub(crate) fn run<T>(&self, read: impl FnOnce(&Connection) -> Fallible<T>) -> Fallible<T> {
        let mut reader = self.pool.reader();
        // Looked at under the lock: a version from before another read of this connection could be older than its snapshot.
        let version = self.pool.index.version();
        if reader.sees(version)? {
            self.pool.keeping().has_begun = true;
            self.pool.changed.notify_one();
        }
        let outcome = read(&reader.conn);
        if outcome.is_err() {
            reader.let_go()?;
        }
        outcome
    }
}

impl Drop for PointReads {
    fn drop(&mut self) {
        self.pool.keeping().is_closed = true;
        self.pool.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // it runs nothing that could panic
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

    fn keeping(&self) -> MutexGuard<'_, Keeping> {
        self.keeping.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread: sleeps until a snapshot is kept, and lets go of all of them a moment later.
    fn let_go(&self) {
        let mut keeping = self.keeping();
        while !keeping.is_closed {
            if std::mem::take(&mut keeping.has_begun) {
                let wait = self.changed.wait_timeout_while(keeping, KEPT_FOR, |keeping| !keeping.is_closed);
                drop(wait.unwrap_or_else(PoisonError::into_inner).0);
                self.readers.iter().for_each(let_go);
                keeping = self.keeping();
            } else {
                keeping = self.changed.wait(keeping).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

/// `None` while it is read from.
fn try_lock(reader: &Mutex<Reader>) -> Option<MutexGuard<'_, Reader>> {
    match reader.try_lock() {
        Ok(reader) => Some(reader),
        Err(TryLockError::Poisoned(reader)) => Some(reader.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

fn let_go(reader: &Mutex<Reader>) {
    if let Err(fault) = lock(reader).let_go() {
        let error = latchkey_store::StoreError::from(fault);
        tracing::error!(%error, "a read transaction could not be ended");
    }
}

fn lock(reader: &Mutex<Reader>) -> MutexGuard<'_, Reader> {
    reader.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Reader {
    const fn new(conn: Connection) -> Self {
        Self { conn, seen: None, quiet_reads: 0, is_keeping: false }
    }

    /// Prepares for a read that begins now, with the file at that version. Answers whether it begins a snapshot that will
    /// be kept.
    fn sees(&mut self, version: Option<Version>) -> Fallible<bool> {
        if version.is_none() || version != self.seen {
            self.let_go()?;
            (self.seen, self.quiet_reads) = (version, 0);
            return Ok(false);
        }
        if self.is_keeping {
            return Ok(false);
        }
        self.quiet_reads += 1;
        let keeps = self.quiet_reads >= QUIET_READS;
        if keeps {
            // The snapshot is taken by the first read in it, so it is not older than the version.
            execute(&self.conn, "BEGIN", [])?;
            self.is_keeping = true;
        }
        Ok(keeps)
    }

    /// Ends the transaction. Where that fails there is no read: it would be of an old snapshot.
    fn let_go(&mut self) -> Fallible<()> {
        if self.is_keeping {
            self.quiet_reads = 0;
            execute(&self.conn, "COMMIT", [])?;
            self.is_keeping = false;
        }
        Ok(())
    }
}

/// A number of the calling thread: threads count up from 0 as they first ask.
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
