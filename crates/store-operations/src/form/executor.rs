//! What an engine does for operations.

use std::future::Future;

use latchkey_store::StoreResult;

use super::{Results, Script};

/// Makes the answer of an operation out of what its last script yielded.
pub type Finish<T> = Box<dyn FnOnce(&Results<'_>) -> StoreResult<T> + Send>;

/// The decision of an operation on what its reads yielded.
pub enum Decided<T> {
    /// Writes nothing, and takes back what the reads claimed.
    Answer(T),
    /// Writes and commits; the answer is made of what that yields.
    Write(Script, Finish<T>),
    /// Begins anew: what was locked moved before it was read. Never the case on an engine with one writer.
    Again,
}

impl<T: Send + 'static> Decided<T> {
    /// Writes, or only keeps the claims of the reads where the script is empty; the answer is known already.
    #[must_use]
    pub fn done(script: Script, answer: T) -> Self {
        Self::write(script, move |_| Ok(answer))
    }

    /// Writes; the answer is made of what that yields. Reads see the changes that stand before them.
    #[must_use]
    pub fn write(
        script: Script,
        finish: impl FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static,
    ) -> Self {
        Self::Write(script, Box::new(finish))
    }
}

/// Whether a script may run again after a connection was lost, when nobody knows whether it was committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// A second run does no harm.
    Harmless,
    /// It runs once; the caller learns that the outcome is unknown.
    Never,
}

/// Runs scripts: all or none of each, durable when it answers.
///
/// An operation is one read, one write, or [`Executor::transact`]: it takes two round trips at most, and three where the
/// plain case was tried first and was not the case. Rows that a decision depends on are locked by a read before they are
/// read, because PostgreSQL gives each read a snapshot of its own.
pub trait Executor: Send + Sync + 'static {
    /// Whether all transactions run one after another, and a second round trip costs nothing.
    const HAS_ONE_WRITER: bool;

    /// Reads a few indexed rows, of one moment.
    fn read<T, F>(&self, script: Script, finish: F) -> impl Future<Output = StoreResult<T>> + Send
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static;

    /// Reads what can take long, of one moment.
    fn read_long<T, F>(&self, script: Script, finish: F) -> impl Future<Output = StoreResult<T>> + Send
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static;

    /// Writes without a decision.
    fn write<T, F>(
        &self,
        script: Script,
        repeat: Repeat,
        finish: F,
    ) -> impl Future<Output = StoreResult<T>> + Send
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static;

    /// Writes without a decision, unless another transaction comes in between: `None` then, and nothing is written.
    fn write_unless_contested<T, F>(
        &self,
        script: Script,
        finish: F,
    ) -> impl Future<Output = StoreResult<Option<T>>> + Send
    where
        T: Send + 'static,
        F: FnOnce(&Results<'_>) -> StoreResult<T> + Send + 'static;

    /// Reads (and locks, and claims), decides, writes. `decide` runs again where another transaction came in between.
    fn transact<T, F>(&self, reads: Script, decide: F) -> impl Future<Output = StoreResult<T>> + Send
    where
        T: Send + 'static,
        F: Fn(&Results<'_>) -> StoreResult<Decided<T>> + Send + Sync + 'static;
}
