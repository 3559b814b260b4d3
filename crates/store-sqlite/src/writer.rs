//! The one thread that writes. It runs operations one after another, each in its own savepoint, and commits many of
//! them at once: a durable write costs a share of a sync instead of a whole one. An operation is answered only after
//! the commit that holds it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use latchkey_store::{StoreError, StoreResult};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::errors::{EngineFault, Fallible, driver, unavailable};
use crate::file_watch::FileWatch;
use crate::open;
use crate::point_reads::KeptSnapshots;
use crate::statements::execute;

/// Operations that may wait in front of the writer; more wait in their callers.
const QUEUE: usize = 1_024;

/// A handle to the writer thread. Dropping it lets the queue drain and the thread end.
pub(crate) struct Writer {
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread on its connection; at most `batch` operations share a commit.
    pub(crate) fn start(
        conn: Connection,
        batch: usize,
        kept: KeptSnapshots,
        files: Arc<FileWatch>,
    ) -> std::io::Result<Self> {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("sqlite-writer".to_owned())
            .spawn(move || serve(&conn, waiting, batch.max(1), &kept, &files))?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Runs an operation atomically and answers once it is durable. It runs even if the caller stops waiting.
    pub(crate) async fn run<T, F>(&self, work: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Fallible<T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let task = Task { work: Some(work), outcome: None, reply };
        let stopped = || unavailable(EngineFault::Stopped);
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        queue.send(Box::new(task)).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }

    /// Runs an operation that nobody waits for, if there is room in the queue; answers whether there is.
    pub(crate) fn run_later<T, F>(&self, work: F) -> bool
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Fallible<T> + Send + 'static,
    {
        let (reply, _) = oneshot::channel();
        let task = Task { work: Some(work), outcome: None, reply };
        self.queue.as_ref().is_some_and(|queue| queue.try_send(Box::new(task)).is_ok())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // The thread catches the panics of operations, so there is nothing to learn here.
            let _ = thread.join();
        }
    }
}

/// An operation whose result type the thread need not know.
trait Job: Send {
    /// Does the work; answers whether its savepoint is to be kept.
    fn run(&mut self, conn: &Connection) -> bool;

    /// Tells the caller. `lost` says why nothing of the batch was kept, where that is so.
    fn answer(self: Box<Self>, lost: Option<&str>);
}

struct Task<T, F> {
    work: Option<F>,
    outcome: Option<StoreResult<T>>,
    reply: oneshot::Sender<StoreResult<T>>,
}

impl<T, F> Job for Task<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Fallible<T> + Send,
{
    fn run(&mut self, conn: &Connection) -> bool {
        let Some(work) = self.work.take() else { return false };
        // The savepoint takes back whatever a panicking operation left in the database; it shares nothing else.
        let outcome = catch_unwind(AssertUnwindSafe(|| work(conn)));
        let outcome = outcome.unwrap_or_else(|_| Err(driver(EngineFault::Panicked).into()));
        let is_kept = outcome.is_ok();
        self.outcome = Some(outcome.map_err(StoreError::from));
        is_kept
    }

    fn answer(self: Box<Self>, lost: Option<&str>) {
        let outcome = match (self.outcome, lost) {
            (Some(Err(own)), _) => Err(own),
            (_, Some(why)) => Err(unavailable(EngineFault::NotKept(why.to_owned()))),
            (Some(Ok(value)), None) => Ok(value),
            (None, None) => Err(unavailable(EngineFault::Stopped)),
        };
        // A caller that has gone needs no answer.
        if let Err(Err(error)) = self.reply.send(outcome) {
            tracing::warn!(%error, "a write failed, and nobody waits for its answer");
        }
    }
}

fn serve(
    conn: &Connection,
    mut waiting: mpsc::Receiver<Box<dyn Job>>,
    batch: usize,
    kept: &KeptSnapshots,
    files: &FileWatch,
) {
    while let Some(first) = waiting.blocking_recv() {
        if files.is_lost() {
            first.answer(Some(&EngineFault::NotInPlace.to_string())); // it was queued before that was noticed
            continue;
        }
        let mut jobs = Vec::with_capacity(batch.min(waiting.len() + 1));
        let lost = match run_batch(conn, first, &mut waiting, batch, &mut jobs, kept) {
            Ok(()) if files.look() => None,
            // Committed into a file that nobody will find again.
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
    finish(conn, files);
}

/// Runs jobs until the batch is full or nobody waits, and commits. On `Err`, which says why, nothing of `jobs` was
/// kept.
fn run_batch(
    conn: &Connection,
    first: Box<dyn Job>,
    waiting: &mut mpsc::Receiver<Box<dyn Job>>,
    batch: usize,
    jobs: &mut Vec<Box<dyn Job>>,
    kept: &KeptSnapshots,
) -> Result<(), String> {
    if let Err(error) = run(conn, "BEGIN IMMEDIATE") {
        // Whoever waits already would run into the same: one wait for the lock is enough for all of them.
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
    }

    // The checkpoint that a commit may begin wants the log for itself.
    let _committing = kept.let_go();
    run(conn, "COMMIT")
}

/// Runs one job in its savepoint. `Err` means that the whole transaction is lost.
fn run_one(conn: &Connection, job: &mut dyn Job) -> Result<(), String> {
    run(conn, "SAVEPOINT job")?;
    let is_kept = job.run(conn);
    if conn.is_autocommit() {
        return Err("the database ended the transaction".to_owned()); // a full disk or an I/O error does that
    }
    if !is_kept {
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

/// Leaves a tidy file behind. Nothing depends on it: what was answered is in the log already. (There is no
/// `PRAGMA optimize`: statistics of a small database would mislead the planner once it has grown.)
fn finish(conn: &Connection, files: &FileWatch) {
    // The last connection deletes the log, by its path: that of another database, if ours was replaced.
    if !files.look() || open::keep_log(conn, false).is_err() {
        return;
    }
    // Our own readers are gone. Those of another process are not waited for: they would wait for us.
    let _ = conn.busy_timeout(Duration::ZERO);
    let _ = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
}

#[cfg(test)]
mod tests;
