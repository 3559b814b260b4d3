//! Reads of a few indexed rows, on the thread that asks. Beginning and ending a read takes locks that all connections
//! share, a third of what the read itself takes. So where nobody writes, a connection keeps its snapshot open from one
//! read to the next, and looks before each read whether it is still the newest ([`crate::wal_index`]): what was committed
//! anywhere before a read began is seen by it, as without.
//!
//! A snapshot that stays open would keep the log from being written back. It is kept only after some reads in a row saw no
//! commit. It is let go by the first read that sees one, by the writer before its own commits, and by a thread after a
//! moment, whether it is used or not.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
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

/// Lets the writer end kept snapshots before it commits: the checkpoint that follows wants the log for itself.
#[derive(Default)]
pub(crate) struct KeptSnapshots(Weak<Pool>);

/// The writer commits, until this is dropped.
#[must_use = "dropping it says that the commit is over"]
pub(crate) struct Committing(Option<Arc<Pool>>);

struct Pool {
    /// A thread tries its own one first, so that threads seldom meet.
    readers: Vec<Mutex<Reader>>,
    index: Arc<WalIndex>,
    /// Counted up where our own writer begins to commit, and where it has: odd while it does.
    commits: AtomicU64,
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
        let pool = Arc::new(Pool {
            readers,
            index,
            commits: AtomicU64::new(0),
            keeping: Mutex::default(),
            changed: Condvar::new(),
        });
        let theirs = Arc::clone(&pool);
        let builder = std::thread::Builder::new().name("sqlite-snapshots".to_owned());
        let thread = builder.spawn(move || theirs.let_go())?;
        Ok(Self { pool, thread: Some(thread) })
    }

    /// What the writer is to end.
    pub(crate) fn kept(&self) -> KeptSnapshots {
        KeptSnapshots(Arc::downgrade(&self.pool))
    }

    /// Runs a read on the calling thread.
    pub(crate) fn run<T>(&self, read: impl FnOnce(&Connection) -> Fallible<T>) -> Fallible<T> {
        let mut reader = self.pool.reader();
        let commits = self.pool.commits.load(Ordering::SeqCst);
        // Looked at under the lock: a version from before another read of this connection could be older than its snapshot.
        let version = self.pool.index.version();
        if reader.sees(version, commits.is_multiple_of(2))? {
            self.pool.will_end();
        }
        let outcome = read(&reader.conn);
        let is_over = outcome.is_err() || self.pool.commits.load(Ordering::SeqCst) != commits;
        if is_over && reader.let_go().is_err() {
            self.pool.will_end(); // the answer is right all the same: it is of the snapshot that was looked at
        }
        outcome
    }
}

impl KeptSnapshots {
    /// Ends those that are not being read from; the others end with their read. None is kept until the answer is dropped.
    pub(crate) fn let_go(&self) -> Committing {
        let pool = self.0.upgrade();
        if let Some(pool) = &pool {
            pool.commits.fetch_add(1, Ordering::SeqCst);
            for mut reader in pool.readers.iter().filter_map(try_lock) {
                if reader.let_go().is_err() {
                    pool.will_end();
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

    /// Wakes the thread: there is a snapshot to be let go.
    fn will_end(&self) {
        self.keeping().has_begun = true;
        self.changed.notify_one();
    }

    /// The thread: sleeps until a snapshot is kept, and lets go of all of them a moment later.
    fn let_go(&self) {
        let mut keeping = self.keeping();
        while !keeping.is_closed {
            if std::mem::take(&mut keeping.has_begun) {
                let wait = self.changed.wait_timeout_while(keeping, KEPT_FOR, |keeping| !keeping.is_closed);
                drop(wait.unwrap_or_else(PoisonError::into_inner).0);
                let failed = self.readers.iter().filter(|reader| !let_go(reader)).count();
                keeping = self.keeping();
                keeping.has_begun |= failed > 0;
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

/// Answers whether it worked.
fn let_go(reader: &Mutex<Reader>) -> bool {
    let outcome = lock(reader).let_go().map_err(latchkey_store::StoreError::from);
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
        Self { conn, seen: None, quiet_reads: 0, is_keeping: false }
    }

    /// Prepares for a read that begins now, with the file at that version. Answers whether it begins a snapshot that will
    /// be kept.
    fn sees(&mut self, version: Option<Version>, may_keep: bool) -> Fallible<bool> {
        if version.is_none() || version != self.seen {
            self.let_go()?;
            (self.seen, self.quiet_reads) = (version, 0);
            return Ok(false);
        }
        if self.is_keeping {
            return Ok(false);
        }
        self.quiet_reads = self.quiet_reads.saturating_add(1);
        let keeps = may_keep && self.quiet_reads >= QUIET_READS;
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
            // A failed read may have ended it: SQLite does so when the disk or the memory fails.
            if !self.conn.is_autocommit() {
                execute(&self.conn, "COMMIT", [])?;
            }
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
