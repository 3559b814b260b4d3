//! The interface of an engine that executes operations.

use std::future::Future;

use latchkey_store::StoreResult;

use super::{Results, Script};

/// Maps the results of an operation's last script to its outcome.
pub type Finish<T> = Box<dyn FnOnce(&Results<'_>) -> StoreResult<T> + Send>;

/// Decision of an operation, made on the results of its reads.
pub enum Decided<T> {
    /// Rolls back, claims of the reads included, and returns the outcome.
    Return(T),
    /// Commits the writes and computes the outcome from their results.
    Write(Script, Finish<T>),
    /// Restarts the operation: a row changed between the lock and the read. Never happens with a single writer.
    Retry,
}

impl<T: Send + 'static> Decided<T> {
    /// Commits the writes (or, with an empty script, only the claims of the reads) and returns a known outcome.
    #[must_use]
    pub fn done(script: Script, answer: T) -> Self {
        Self::write(script, move |_| Ok(answer))
    }

    /// Commits the writes and computes the outcome from their results. Reads see the changes before them in the
    /// script.
    #[must_use]
    pub fn write(
        script: Script,
        finish: impl FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    ) -> Self {
        Self::Write(script, Box::new(finish))
    }
}

/// Retry policy for a script whose connection broke, so that its commit is uncertain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// Idempotent: the script is run again.
    Harmless,
    /// Not repeated: the caller gets an error that says so.
    Never,
}

/// Executes scripts: each is atomic, and durable when the call returns.
///
/// An operation is one read, one write, or [`Executor::transact`]: at most two round trips, three if an
/// optimistic fast path was tried first and failed. Rows that a decision depends on are locked by an earlier
/// statement than the read, because PostgreSQL takes a new snapshot for each statement.
pub trait Executor: Send + Sync + 'static {
    /// True if transactions run one at a time and a second round trip is free.
    const HAS_ONE_WRITER: bool;

    /// Point read: a few indexed rows, one snapshot.
    fn read<T, F>(&self, script: Script, finish: F) -> impl Future<Output = StoreResult<T>> + Send
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static;

    /// Long-running read, one snapshot.
    fn read_long<T, F>(&self, script: Script, finish: F) -> impl Future<Output = StoreResult<T>> + Send
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static;

    /// Write without a decision.
    fn write<T, F>(
        &self,
        script: Script,
        repeat: Repeat,
        finish: F,
    ) -> impl Future<Output = StoreResult<T>> + Send
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static;

    /// Write without a decision that gives up on a conflict: `None`, with nothing written, if another transaction
    /// interferes.
    fn write_unless_contested<T, F>(
        &self,
        script: Script,
        finish: F,
    ) -> impl Future<Output = StoreResult<Option<T>>> + Send
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static;

    /// Reads (with locks and claims), decides, and writes in one transaction. `decide` runs again after a
    /// conflict.
    fn transact<T, F>(&self, reads: Script, decide: F) -> impl Future<Output = StoreResult<T>> + Send
    where
        T: Send + 'static,
        F: Fn(&Results<'_>) -> StoreResult<Decided<T>> + Send + Sync + 'static;
}
