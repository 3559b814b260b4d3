//! Connections that only read. Point reads run where they are asked for: they take microseconds, less than a hop to
//! another thread would. What can take long has connections of its own, on threads of their own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use latchkey_store::{StoreError, StoreResult};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::errors::{EngineFault, Fallible, driver, unavailable};
use crate::point_reads::{KeptSnapshots, PointReads};
use crate::wal_index::WalIndex;

/// Reads that may wait for a thread of the long ones; more wait in their callers.
const QUEUE: usize = 256;

/// Two sets of read-only connections.
pub(crate) struct Readers {
    short: PointReads,
    long: Threads,
}

impl Readers {
    /// Takes the connections for short and for long reads, at least one each, and the index of their file.
    pub(crate) fn start(
        short: Vec<Connection>,
        long: Vec<Connection>,
        index: Arc<WalIndex>,
    ) -> std::io::Result<Self> {
        Ok(Self { short: PointReads::start(short, index)?, long: Threads::start(long)? })
    }

    /// The snapshots that the writer is to end.
    pub(crate) fn kept(&self) -> KeptSnapshots {
        self.short.kept()
    }

    /// Runs an indexed read of a few rows on the calling thread.
    pub(crate) fn run<T>(&self, read: impl FnOnce(&Connection) -> Fallible<T>) -> StoreResult<T> {
        self.short.run(read).map_err(StoreError::from)
    }

    /// Runs a read that can take long on a thread of its own.
    pub(crate) async fn run_long<T, F>(&self, read: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Fallible<T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let task = move |conn: &Connection| {
            // A caller that has gone needs no answer, and a read for it no work.
            if !reply.is_closed() {
                let _ = reply.send(read(conn).map_err(StoreError::from));
            }
        };
        let stopped = || unavailable(EngineFault::Stopped);
        let queue = self.long.queue.as_ref().ok_or_else(stopped)?;
        queue.send(Box::new(task)).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| driver(EngineFault::Panicked))?
    }
}

type Task = Box<dyn FnOnce(&Connection) + Send>;

/// Threads that take long reads from one queue.
struct Threads {
    queue: Option<mpsc::Sender<Task>>,
    threads: Vec<JoinHandle<()>>,
}

impl Threads {
    fn start(connections: Vec<Connection>) -> std::io::Result<Self> {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let waiting = Arc::new(Mutex::new(waiting));
        // Where one cannot be started, those before it are ended with this.
        let mut all = Self { queue: Some(queue), threads: Vec::new() };
        for conn in connections {
            let waiting = Arc::clone(&waiting);
            let name = "sqlite-reader".to_owned();
            all.threads.push(Builder::new().name(name).spawn(move || serve(&conn, &waiting))?);
        }
        Ok(all)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            // The threads catch the panics of reads, so there is nothing to learn here.
            let _ = thread.join();
        }
    }
}

fn serve(conn: &Connection, waiting: &Mutex<mpsc::Receiver<Task>>) {
    loop {
        let task = waiting.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        let Some(task) = task else { return };
        // A panicking read leaves nothing behind; its caller sees that no answer came.
        let _ = catch_unwind(AssertUnwindSafe(|| task(conn)));
    }
}
