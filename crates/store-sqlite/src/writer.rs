//! The writer thread with group commit. Operations are executed one after another, each in its own savepoint. Many of
//! them share one commit, and thus the cost of one sync to disk. An operation is acknowledged only after its commit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use latchkey_metrics::Histogram;
use latchkey_store::{StoreError, StoreResult};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::errors::{EngineFault, Fallible, driver, unavailable};
use crate::file_watch::FileWatch;
use crate::open;
use crate::options::LogAtClose;
use crate::point_reads::HeldSnapshots;
use crate::statements::execute;

/// Capacity of the queue of operations. While the queue is full, callers wait.
const QUEUE: usize = 1_024;

/// Reason of a lost transaction after a full disk or an I/O error.
const ENDED: &str = "the database ended the transaction";
/// Upper bounds of the numbers of operations per commit, for the metrics.
const BATCH_BOUNDS: &[u64] = &[1, 4, 16, 64, 256];

/// Handle of the writer thread. Dropping it finishes the queued operations and ends the thread.
pub(crate) struct Writer {
    queue: Option<mpsc::Sender<QueuedJob>>,
    thread: Option<JoinHandle<()>>,
    batches: Arc<Histogram>,
}

impl Writer {
    /// Starts the thread with its connection. At most `batch` operations share a commit.
    pub(crate) fn start(
        conn: Connection,
        batch: usize,
        snapshots: HeldSnapshots,
        files: Arc<FileWatch>,
        at_close: LogAtClose,
    ) -> std::io::Result<Self> {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let batches = Arc::new(Histogram::of_numbers(BATCH_BOUNDS));
        let recorded = Arc::clone(&batches);
        let thread = std::thread::Builder::new().name("sqlite-writer".to_owned()).spawn(move || {
            serve(&conn, waiting, batch.max(1), &snapshots, (&files, &recorded));
            if at_close == LogAtClose::Folded {
                finish(&conn, &files);
            }
        })?;
        Ok(Self { queue: Some(queue), thread: Some(thread), batches })
    }

    /// Returns the numbers of operations per commit.
    pub(crate) fn batches(&self) -> &Histogram {
        &self.batches
    }

    /// Executes an operation atomically and returns once it is durable. The operation is executed even if the caller
    /// is cancelled.
    pub(crate) async fn run<T, F>(&self, work: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Fallible<T> + Send + 'static,
    {
        self.send(work, false).await
    }

    /// Executes an operation of very many statements, as [`Self::run`] does, in a transaction of its own and without a
    /// savepoint. Inside a savepoint SQLite keeps the old content of each page, and the end of each statement walks
    /// through all of it.
    pub(crate) async fn run_alone<T, F>(&self, work: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Fallible<T> + Send + 'static,
    {
        self.send(work, true).await
    }

    async fn send<T, F>(&self, work: F, is_alone: bool) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Fallible<T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let task = Task { work: Some(work), outcome: None, is_alone, reply };
        let stopped = || unavailable(EngineFault::Stopped);
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        queue.send(Box::new(task)).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }

    /// Queues an operation without waiting for its result. Returns `false` if the queue is full.
    pub(crate) fn run_later<T, F>(&self, work: F) -> bool
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Fallible<T> + Send + 'static,
    {
        let (reply, _) = oneshot::channel();
        let task = Task { work: Some(work), outcome: None, is_alone: false, reply };
        self.queue.as_ref().is_some_and(|queue| queue.try_send(Box::new(task)).is_ok())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // The thread returns no value, and it catches the panics of operations.
            let _ = thread.join();
        }
    }
}

type QueuedJob = Box<dyn Job>;

/// A queued operation, with its result type erased.
trait Job: Send {
    /// Executes the operation. Returns `true` to keep what it wrote, `false` to roll it back.
    fn run(&mut self, conn: &Connection) -> bool;

    /// True if the operation has a transaction of its own.
    fn is_alone(&self) -> bool;

    /// Sends the result to the caller. `lost` is the reason if the whole batch was rolled back.
    fn answer(self: Box<Self>, lost: Option<&str>);
}

struct Task<T, F> {
    work: Option<F>,
    outcome: Option<StoreResult<T>>,
    is_alone: bool,
    reply: oneshot::Sender<StoreResult<T>>,
}

impl<T, F> Job for Task<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Fallible<T> + Send,
{
    fn run(&mut self, conn: &Connection) -> bool {
        let Some(work) = self.work.take() else { return false };
        // This is unwind safe, because the savepoint rolls back the database, and nothing else is shared.
        let outcome = catch_unwind(AssertUnwindSafe(|| work(conn)));
        let outcome = outcome.unwrap_or_else(|_| Err(driver(EngineFault::Panicked).into()));
        let is_released = outcome.is_ok();
        self.outcome = Some(outcome.map_err(StoreError::from));
        is_released
    }

    fn is_alone(&self) -> bool {
        self.is_alone
    }

    fn answer(self: Box<Self>, lost: Option<&str>) {
        let outcome = match (self.outcome, lost) {
            (Some(Err(own)), _) => Err(own),
            (_, Some(why)) => Err(unavailable(EngineFault::RolledBack(why.to_owned()))),
            (Some(Ok(value)), None) => Ok(value),
            (None, None) => Err(unavailable(EngineFault::Stopped)),
        };
        // The caller may have been cancelled.
        if let Err(Err(error)) = self.reply.send(outcome) {
            tracing::warn!(%error, "a write failed after its caller was cancelled");
        }
    }
}

fn serve(
    conn: &Connection,
    mut waiting: mpsc::Receiver<QueuedJob>,
    batch: usize,
    snapshots: &HeldSnapshots,
    (files, batches): (&FileWatch, &Histogram),
) {
    let mut next = None;
    while let Some(first) = next.take().or_else(|| waiting.blocking_recv()) {
        if files.is_lost() {
            first.answer(Some(&EngineFault::NotInPlace.to_string())); // queued before the check noticed it
            continue;
        }
        let mut jobs = Vec::with_capacity(batch.min(waiting.len() + 1));
        let ran = if first.is_alone() {
            run_alone(conn, first, &mut jobs, snapshots)
        } else {
            run_batch(conn, first, (&mut waiting, &mut next), batch, &mut jobs, snapshots)
        };
        let lost = match ran {
            Ok(()) if files.check() => {
                batches.record(jobs.len() as u64);
                None
            }
            // The commit went into a file that is no longer at its path.
            Ok(()) => Some(EngineFault::NotInPlace.to_string()),
            Err(why) => {
                tracing::error!(error = %why, operations = jobs.len(), "a group of writes was rolled back");
                roll_back(conn);
                Some(why)
            }
        };
        for job in jobs {
            job.answer(lost.as_deref());
        }
    }
}

/// Executes an operation in a transaction of its own. `Err` with the reason means that it was rolled back although it
/// succeeded.
fn run_alone(
    conn: &Connection,
    mut job: QueuedJob,
    jobs: &mut Vec<QueuedJob>,
    snapshots: &HeldSnapshots,
) -> Result<(), String> {
    let begun = run(conn, "BEGIN IMMEDIATE");
    let is_kept = begun.is_ok() && job.run(conn);
    jobs.push(job);
    begun?;
    if conn.is_autocommit() {
        return Err(ENDED.to_owned());
    }
    if !is_kept {
        return run(conn, "ROLLBACK");
    }
    let _committing = snapshots.release();
    run(conn, "COMMIT")
}

/// Executes operations until the batch is full, the queue is empty, or the next operation wants a transaction of its
/// own, and commits. `Err` with the reason means that the whole batch was rolled back.
fn run_batch(
    conn: &Connection,
    first: QueuedJob,
    (waiting, next_alone): (&mut mpsc::Receiver<QueuedJob>, &mut Option<QueuedJob>),
    batch: usize,
    jobs: &mut Vec<QueuedJob>,
    snapshots: &HeldSnapshots,
) -> Result<(), String> {
    if let Err(error) = run(conn, "BEGIN IMMEDIATE") {
        // After one busy timeout all waiting operations fail, because each of them would wait for the same lock.
        jobs.push(first);
        while jobs.len() < batch
            && let Ok(next) = waiting.try_recv()
        {
            jobs.push(next);
        }
        return Err(error);
    }

    let mut next = Some(first);
    while let Some(mut job) = next.take() {
        let outcome = run_one(conn, job.as_mut());
        jobs.push(job);
        outcome?;
        if jobs.len() < batch {
            next = waiting.try_recv().ok();
        }
        if next.as_ref().is_some_and(|job| job.is_alone()) {
            *next_alone = next.take();
        }
    }

    // A held snapshot would block the checkpoint that a commit may start.
    let _committing = snapshots.release();
    run(conn, "COMMIT")
}

/// Executes one operation in its savepoint. `Err` means that the whole transaction is lost.
fn run_one(conn: &Connection, job: &mut dyn Job) -> Result<(), String> {
    run(conn, "SAVEPOINT job")?;
    let is_released = job.run(conn);
    if conn.is_autocommit() {
        return Err(ENDED.to_owned());
    }
    if !is_released {
        run(conn, "ROLLBACK TO job")?;
    }
    run(conn, "RELEASE job")
}

fn run(conn: &Connection, sql: &str) -> Result<(), String> {
    execute(conn, sql, []).map(|_| ()).map_err(|fault| match StoreError::from(fault) {
        StoreError::Unavailable(source) | StoreError::Driver(source) => source.to_string(),
        other => other.to_string(),
    })
}

fn roll_back(conn: &Connection) {
    if !conn.is_autocommit()
        && let Err(error) = run(conn, "ROLLBACK")
    {
        tracing::error!(%error, "a transaction could not be rolled back");
    }
}

/// Checkpoints at shutdown. Durability does not depend on this, because acknowledged writes are already in the WAL.
/// `PRAGMA optimize` does not run, because statistics of a small database would mislead the query planner once it has
/// grown.
fn finish(conn: &Connection, files: &FileWatch) {
    // The last connection deletes the WAL by its path. If our files were replaced, that is the WAL of another
    // database.
    if !files.check() || open::keep_log(conn, false).is_err() {
        return;
    }
    // Our own readers are closed already. Waiting for another process's readers could deadlock.
    let _ = conn.busy_timeout(Duration::ZERO);
    let _ = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
}

#[cfg(test)]
mod tests;
