//! Transactions: a script in one round trip, or reads, a decision and writes in two round trips. An operation cannot
//! take more round trips, because its decision is a plain function, which sends no statements. Conflicts and lost
//! connections are retried here.

use std::borrow::Cow;

use latchkey_store::{StoreError, StoreResult};

use crate::connection::{Connection, Frame};
use crate::errors::{Fallible, Fault, Remedy};
use crate::opening::Opening;
use crate::script::{Output, Outputs, Script};
use crate::store::Postgres;
use crate::values::Value;

const ATTEMPTS: u32 = 12;

/// Decision of an operation, made between its two round trips.
pub(crate) enum Decision<T> {
    /// Rolls back and returns the outcome.
    Return(T),
    /// Commits the writes and computes the outcome from their results.
    Write(Script, Finish<T>),
}

/// Function that computes an operation's outcome from the results of its writes.
pub(crate) type Finish<T> = Box<dyn FnOnce(&Outputs) -> Fallible<T> + Send>;

impl<T> Decision<T> {
    /// Returns the decision for an outcome that does not depend on the results of the writes. Without writes, the
    /// transaction is rolled back.
    pub(crate) fn done(script: Script, outcome: T) -> Self
    where
        T: Send + 'static,
    {
        if script.is_empty() { Self::Return(outcome) } else { Self::write(script, move |_| Ok(outcome)) }
    }

    /// Returns the decision to commit the writes and to compute the outcome from their results.
    pub(crate) fn write(
        script: Script,
        finish: impl FnOnce(&Outputs) -> Fallible<T> + Send + 'static,
    ) -> Self {
        Self::Write(script, Box::new(finish))
    }
}

/// Whether an attempt may be repeated after a lost connection. Repeating is unsafe if its commit may have
/// succeeded and the script is not idempotent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Retry {
    Safe,
    Unsafe,
}

/// An error, and whether the attempt may be repeated if the connection was lost.
struct Failed(Fault, Retry);

impl Failed {
    fn is_retryable(&self) -> bool {
        match self.0.remedy {
            Remedy::Retry => true,
            Remedy::Reconnect => self.1 == Retry::Safe,
            Remedy::None => false,
        }
    }
}

/// Retries an attempt until it succeeds, fails with a fault that no retry overcomes, or [`ATTEMPTS`] is reached.
macro_rules! retry {
    ($attempt:expr) => {{
        let mut attempts = 1;
        loop {
            match $attempt {
                Ok(output) => break Ok(output),
                Err(failed) if attempts < ATTEMPTS && failed.is_retryable() => attempts += 1,
                Err(Failed(fault, _)) => break Err(StoreError::from(fault)),
            }
        }
    }};
}

impl Postgres {
    pub(crate) async fn query(
        &self,
        sql: impl Into<Cow<'static, str>>,
        values: Vec<Value>,
    ) -> StoreResult<Output> {
        self.read_script(&Script::of(sql, values)).await.and_then(only)
    }

    pub(crate) async fn execute(
        &self,
        sql: impl Into<Cow<'static, str>>,
        values: Vec<Value>,
    ) -> StoreResult<Output> {
        self.write_script(&Script::of(sql, values)).await.and_then(only)
    }

    /// Executes reads from one snapshot, in one round trip.
    pub(crate) async fn read_script(&self, script: &Script) -> StoreResult<Outputs> {
        let frame = frame(script, &self.openings().read, &self.openings().reads);
        retry!(self.attempt(frame, script, Retry::Safe).await)
    }

    /// Executes reads that may take long, from one snapshot, in one round trip.
    pub(crate) async fn read_long_script(&self, script: &Script) -> StoreResult<Outputs> {
        let frame = Frame::Whole(&self.openings().long_reads);
        retry!(self.attempt(frame, script, Retry::Safe).await)
    }

    /// Executes reads that find all rows by an index, from one snapshot, in one round trip.
    pub(crate) async fn read_by_index(&self, script: &Script) -> StoreResult<Outputs> {
        let frame = Frame::Whole(&self.openings().index_reads);
        retry!(self.attempt(frame, script, Retry::Safe).await)
    }

    /// Executes writes that depend on no decision, atomically, in one round trip.
    pub(crate) async fn write_script(&self, script: &Script) -> StoreResult<Outputs> {
        retry!(self.attempt_write(script, Retry::Unsafe).await)
    }

    /// Executes writes of many rows that depend on no decision, atomically, in one round trip.
    pub(crate) async fn write_many_script(&self, script: &Script) -> StoreResult<Outputs> {
        let frame = Frame::Whole(&self.openings().many_writes);
        retry!(self.attempt(frame, script, Retry::Unsafe).await)
    }

    /// Executes idempotent writes that depend on no decision, in one round trip. They are retried after a
    /// lost connection even if the commit may have succeeded.
    pub(crate) async fn write_idempotent_script(&self, script: &Script) -> StoreResult<Outputs> {
        retry!(self.attempt_write(script, Retry::Safe).await)
    }

    /// Executes writes that depend on no decision, in one round trip. On a conflict with another transaction
    /// writes nothing and returns `None`.
    pub(crate) async fn try_write_script(&self, script: &Script) -> StoreResult<Option<Outputs>> {
        match self.attempt_write(script, Retry::Unsafe).await {
            Ok(outputs) => Ok(Some(outputs)),
            Err(Failed(fault, _)) if fault.remedy == Remedy::Retry => Ok(None),
            Err(Failed(fault, _)) => Err(fault.into()),
        }
    }

    /// Executes reads with locks, decides, and executes the writes, all in one transaction. After a conflict the whole
    /// operation runs again.
    pub(crate) async fn transact_script<T: Send>(
        &self,
        opening: &Opening,
        reads: &Script,
        decide: impl Fn(&Outputs) -> Fallible<Decision<T>> + Send + Sync,
    ) -> StoreResult<T> {
        retry!(self.attempt_transaction(opening, reads, &decide).await)
    }

    async fn attempt_write(&self, script: &Script, retry: Retry) -> Result<Outputs, Failed> {
        let opening = &self.openings().writes;
        self.attempt(frame(script, opening, opening), script, retry).await
    }

    async fn attempt(&self, frame: Frame<'_>, script: &Script, retry: Retry) -> Result<Outputs, Failed> {
        let mut connection = self.connection().await.map_err(|fault| Failed(fault, Retry::Unsafe))?;
        connection.exchange(frame, script).await.map_err(|fault| Failed(fault, retry))
    }

    async fn attempt_transaction<T: Send>(
        &self,
        opening: &Opening,
        reads: &Script,
        decide: &(impl Fn(&Outputs) -> Fallible<Decision<T>> + Send + Sync),
    ) -> Result<T, Failed> {
        let mut connection: Connection =
            self.connection().await.map_err(|fault| Failed(fault, Retry::Unsafe))?;
        let outputs = connection
            .exchange(Frame::First(opening), reads)
            .await
            .map_err(|fault| Failed(fault, Retry::Safe))?;

        let unsafe_to_retry = |fault| Failed(fault, Retry::Unsafe);
        match decide(&outputs).map_err(unsafe_to_retry)? {
            Decision::Return(output) => Ok(output),
            Decision::Write(writes, finish) => {
                let outputs = connection.exchange(Frame::Last, &writes).await.map_err(unsafe_to_retry)?;
                finish(&outputs).map_err(unsafe_to_retry)
            }
        }
    }
}

/// Returns the frame of a script. A lone statement has its own.
fn frame<'a>(script: &Script, of_one: &'a Opening, of_many: &'a Opening) -> Frame<'a> {
    if script.statements.len() == 1 { Frame::Lone(of_one) } else { Frame::Whole(of_many) }
}

/// One snapshot for reads that follow one another: a read-only transaction, which ends when this value is dropped.
pub(crate) struct Snapshot<'a> {
    connection: Connection,
    /// BEGIN statement of the transaction; `None` after the first read.
    opening: Option<&'a Opening>,
}

impl Snapshot<'_> {
    /// Executes reads from the snapshot.
    pub(crate) async fn read(&mut self, script: &Script) -> StoreResult<Outputs> {
        let frame = self.opening.take().map_or(Frame::Middle, Frame::First);
        Ok(self.connection.exchange(frame, script).await?)
    }
}

impl Postgres {
    /// Begins a snapshot with its first read.
    pub(crate) async fn snapshot(&self) -> StoreResult<Snapshot<'_>> {
        Ok(Snapshot { connection: self.connection_for_pages().await?, opening: Some(&self.openings().pages) })
    }
}

fn only(mut outputs: Outputs) -> StoreResult<Output> {
    outputs.take_first().map_err(StoreError::from)
}
