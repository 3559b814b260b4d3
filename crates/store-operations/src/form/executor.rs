//! The interface that an engine implements to execute operations.

use std::future::Future;

use latchkey_store::StoreResult;

use super::{Results, Script};

/// Function that computes an operation's outcome from the results of its last script.
pub type Finish<T> = Box<dyn FnOnce(&Results<'_>) -> StoreResult<T> + Send>;

/// Decision of an operation, made from the results of its reads.
pub enum Decided<T> {
    /// Rolls the transaction back, changes by the script of reads included, and returns this outcome.
    Return(T),
    /// Commits the writes and computes the outcome from their results.
    Write(Script, Finish<T>),
    /// Restarts the operation, because a row changed between the lock and the read. With a single writer this never
    /// happens.
    Retry,
}

impl<T: Send + 'static> Decided<T> {
    /// Makes the decision to commit `script`, with an outcome that is known already. Changes by the preceding
    /// script of reads are committed too.
    #[must_use]
    pub fn done(script: Script, answer: T) -> Self {
        Self::write(script, move |_| Ok(answer))
    }

    /// Makes the decision to commit `script`, whose results yield the outcome. A read in the script sees the changes
    /// that precede it.
    #[must_use]
    pub fn write(
        script: Script,
        finish: impl FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    ) -> Self {
        Self::Write(script, Box::new(finish))
    }
}

/// Retry policy for a script whose connection broke before the commit was confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// The script is idempotent and runs again.
    Harmless,
    /// The script does not run again. The caller gets an error that says that the outcome is unknown.
    Never,
}

/// Reads that follow one another in one snapshot.
pub trait Pages: Send + 'static {
    /// What one script yields.
    type Page: Send + 'static;

    /// Returns the next script; `None` after the last one.
    fn next(&mut self) -> Option<Script>;

    /// Computes the page from the results of the last script.
    fn read(&mut self, results: &Results<'_>) -> StoreResult<Self::Page>;
}

/// Receiver of pages. It may take its time: nothing but the snapshot is held meanwhile.
pub trait Receiver<P>: Send {
    /// Takes a page. Returns false if no further one is wanted.
    fn take(&mut self, page: P) -> impl Future<Output = bool> + Send;
}

/// Executor of scripts. Each script is atomic, and durable when the call returns.
///
/// An operation is one read, one write, or one [`Executor::transact`]. It takes at most two round trips, or three if an
/// optimistic fast path failed first. Rows that a decision depends on are locked by one statement and read by a later
/// one, because PostgreSQL takes a new snapshot for each statement.
pub trait Executor: Send + Sync + 'static {
    /// True if transactions run one at a time and a second round trip costs nothing.
    const HAS_ONE_WRITER: bool;

    /// Executes a point read: a few indexed rows, all from one snapshot.
    fn read<T, F>(&self, script: Script, finish: F) -> impl Future<Output = StoreResult<T>> + Send
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static;

    /// Executes a read that may take long, from one snapshot.
    fn read_long<T, F>(&self, script: Script, finish: F) -> impl Future<Output = StoreResult<T>> + Send
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static;

    /// Executes scripts of reads one after another from one snapshot, and hands each page to `receiver`.
    fn read_pages<P, R>(&self, pages: P, receiver: R) -> impl Future<Output = StoreResult<()>> + Send
    where
        P: Pages,
        R: Receiver<P::Page>;

    /// Executes a script of writes that does not depend on a decision in Rust.
    fn write<T, F>(
        &self,
        script: Script,
        repeat: Repeat,
        finish: F,
    ) -> impl Future<Output = StoreResult<T>> + Send
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static;

    /// Executes a script of writes that does not depend on a decision in Rust. After a conflict with another
    /// transaction, returns `None` and writes nothing.
    fn write_unless_contested<T, F>(
        &self,
        script: Script,
        finish: F,
    ) -> impl Future<Output = StoreResult<Option<T>>> + Send
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static;

    /// Executes the reads, which may lock and change rows, calls `decide`, and executes its writes, all in one
    /// transaction. `decide` runs again after a conflict with another transaction.
    fn transact<T, F>(&self, reads: Script, decide: F) -> impl Future<Output = StoreResult<T>> + Send
    where
        T: Send + 'static,
        F: Fn(&Results<'_>) -> StoreResult<Decided<T>> + Send + Sync + 'static;

    /// Executes a transaction that writes very many rows, as [`Self::transact`] does. On SQLite it shares its commit with
    /// no other.
    fn transact_alone<T, F>(&self, reads: Script, decide: F) -> impl Future<Output = StoreResult<T>> + Send
    where
        T: Send + 'static,
        F: Fn(&Results<'_>) -> StoreResult<Decided<T>> + Send + Sync + 'static,
    {
        self.transact(reads, decide)
    }
}
