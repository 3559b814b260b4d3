//! Read-only connections. Point reads run on the calling thread, because they take microseconds, less than passing
//! them to another thread. Long-running reads have their own connections and threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use latchkey_store::{StoreError, StoreResult};
use rusqlite::{Connection, InterruptHandle};
use tokio::sync::{mpsc, oneshot};

use crate::errors::{EngineFault, Fallible, driver, unavailable};
use crate::point_reads::{HeldSnapshots, PointReads};
use crate::statements::execute;
use crate::wal_index::WalIndex;

/// Capacity of the queue of long-running reads. While the queue is full, callers wait.
const QUEUE: usize = 256;

/// Connections for point reads and for long-running reads.
pub(crate) struct Readers {
    short: PointReads,
    long: Threads,
}

impl Readers {
    /// Starts the pools with at least one connection each. `index` is the WAL index of the connections' file.
    pub(crate) fn start(
        short: Vec<Connection>,
        long: Vec<Connection>,
        index: Arc<WalIndex>,
    ) -> std::io::Result<Self> {
        Ok(Self { short: PointReads::start(short, index)?, long: Threads::start(long)? })
    }

    pub(crate) fn held_snapshots(&self) -> HeldSnapshots {
        self.short.held_snapshots()
    }

    /// Executes a point read on the calling thread.
    pub(crate) fn run<T>(&self, read: impl FnOnce(&Connection) -> Fallible<T>) -> StoreResult<T> {
        self.short.run(read).map_err(StoreError::from)
    }

    /// Executes a long-running read on a thread of the pool.
    pub(crate) async fn run_long<T, F>(&self, read: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Fallible<T> + Send + 'static,
    {
        self.long.run(read).await
    }
}

/// One snapshot for reads that follow one another, on a connection and thread of its own.
pub(crate) struct Snapshot {
    interrupt: InterruptHandle,
    threads: Threads,
}

impl Snapshot {
    /// Begins a read transaction. Its snapshot is that of the first read.
    pub(crate) fn begin(conn: Connection) -> Fallible<Self> {
        execute(&conn, "BEGIN", [])?;
        let interrupt = conn.get_interrupt_handle();
        Ok(Self { interrupt, threads: Threads::start(vec![conn]).map_err(unavailable)? })
    }

    pub(crate) async fn run<T, F>(&self, read: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Fallible<T> + Send + 'static,
    {
        self.threads.run(read).await
    }
}

impl Drop for Snapshot {
    /// Ends the read that nobody waits for any more. Who drops the snapshot would otherwise wait for it.
    fn drop(&mut self) {
        self.interrupt.interrupt();
    }
}

type Task = Box<dyn FnOnce(&Connection) + Send>;

/// Pool of threads that execute long-running reads from one queue.
struct Threads {
    queue: Option<mpsc::Sender<Task>>,
    threads: Vec<JoinHandle<()>>,
}

impl Threads {
    fn start(connections: Vec<Connection>) -> std::io::Result<Self> {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let waiting = Arc::new(Mutex::new(waiting));
        // If a thread cannot be started, dropping this value ends the threads before it.
        let mut all = Self { queue: Some(queue), threads: Vec::new() };
        for conn in connections {
            let waiting = Arc::clone(&waiting);
            let name = "sqlite-reader".to_owned();
            all.threads.push(Builder::new().name(name).spawn(move || serve(&conn, &waiting))?);
        }
        Ok(all)
    }
}

impl Threads {
    async fn run<T, F>(&self, read: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Fallible<T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let task = move |conn: &Connection| {
            // If the caller has been cancelled, the read is skipped.
            if !reply.is_closed() {
                let _ = reply.send(read(conn).map_err(StoreError::from));
            }
        };
        let stopped = || unavailable(EngineFault::Stopped);
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        queue.send(Box::new(task)).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| driver(EngineFault::Panicked))?
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            // The thread returns no value, and it catches the panics of reads.
            let _ = thread.join();
        }
    }
}

fn serve(conn: &Connection, waiting: &Mutex<mpsc::Receiver<Task>>) {
    loop {
        let task = waiting.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let Some(task) = task else { return };
        // A read that panics leaves no changes. Its caller gets an error, because the sender of the reply is
        // dropped.
        let _ = catch_unwind(AssertUnwindSafe(|| task(conn)));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test]
    async fn dropped_snapshot_does_not_wait_for_its_read() {
        let snapshot = Snapshot::begin(Connection::open_in_memory().unwrap()).unwrap();
        let (begins, begun) = oneshot::channel();
        let endless = snapshot.run(move |conn| {
            let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
            let mut statement = conn.prepare(sql)?;
            let mut rows = statement.query([])?;
            rows.next()?;
            begins.send(()).unwrap();
            while rows.next()?.is_some() {}
            Ok(())
        });

        tokio::select! {
            _ = endless => panic!("it is endless"),
            _ = begun => {}
        }

        drop(snapshot);
    }
}
