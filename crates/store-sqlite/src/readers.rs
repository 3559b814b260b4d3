//! Connections that only read. Point reads run where they are asked for: they take microseconds, less than a hop to
//! another thread would. What can take long has connections of its own, on threads of their own.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::{Builder, JoinHandle};

use latchkey_store::{StoreError, StoreResult};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::errors::{EngineFault, Fallible, driver, unavailable};

/// Reads that may wait for a thread of the long ones; more wait in their callers.
const QUEUE: usize = 256;

/// Two sets of read-only connections.
pub(crate) struct Readers {
    short: Pool,
    long: Threads,
}

impl Readers {
    /// Takes the connections for short and for long reads; at least one each.
    pub(crate) fn start(short: Vec<Connection>, long: Vec<Connection>) -> std::io::Result<Self> {
        Ok(Self { short: Pool::new(short), long: Threads::start(long)? })
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
        let start = |conn: Connection| {
            let waiting = Arc::clone(&waiting);
            Builder::new().name("sqlite-reader".to_owned()).spawn(move || serve(&conn, &waiting))
        };
        let threads = connections.into_iter().map(start).collect::<std::io::Result<_>>()?;
        Ok(Self { queue: Some(queue), threads })
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

/// Connections behind locks. A thread tries its own one first, so that threads seldom meet.
struct Pool {
    connections: Vec<Mutex<Connection>>,
}

impl Pool {
    fn new(connections: Vec<Connection>) -> Self {
        Self { connections: connections.into_iter().map(Mutex::new).collect() }
    }

    fn run<T>(&self, read: impl FnOnce(&Connection) -> Fallible<T>) -> Fallible<T> {
        let count = self.connections.len();
        let own = thread_number() % count;
        for step in 0..count {
            match self.connections[(own + step) % count].try_lock() {
                Ok(conn) => return read(&conn),
                Err(TryLockError::Poisoned(conn)) => return read(&conn.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        read(&self.connections[own].lock().unwrap_or_else(PoisonError::into_inner))
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
