//! Execution of operations: a single statement, a script in one round trip, or reads, a decision and writes in
//! two. More than two are impossible by construction, because the decision is a plain function.

use std::borrow::Cow;

use latchkey_store::{StoreError, StoreResult};

use crate::connection::{Connection, Frame};
use crate::errors::{Fallible, Fault, Remedy};
use crate::script::{Output, Outputs, Script};
use crate::store::Postgres;
use crate::values::Value;

/// Most attempts of an operation under conflicts.
const ATTEMPTS: u32 = 12;

/// Decision between the two round trips.
pub(crate) enum Decision<T> {
    /// Rolls back and returns.
    Return(T),
    /// Commits these writes, then computes the outcome from their results.
    Write(Script, Finish<T>),
}

/// Computes the outcome of an operation.
pub(crate) type Finish<T> = Box<dyn FnOnce(&Outputs) -> Fallible<T> + Send>;

impl<T> Decision<T> {
    /// Writes, if there is anything to write, and returns a known outcome.
    pub(crate) fn done(script: Script, outcome: T) -> Self
    where
        T: Send + 'static,
    {
        if script.is_empty() { Self::Return(outcome) } else { Self::write(script, move |_| Ok(outcome)) }
    }

    /// Writes and computes the outcome from the results.
    pub(crate) fn write(
        script: Script,
        finish: impl FnOnce(&Outputs) -> Fallible<T> + Send + 'static,
    ) -> Self {
        Self::Write(script, Box::new(finish))
    }
}

/// Safety of a retry after a lost connection: unsafe if a commit may have succeeded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Retry {
    Safe,
    Unsafe,
}

/// A fault, and the safety of a retry.
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

/// Retries until success or a fault without a remedy.
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
    /// Executes a single read.
    pub(crate) async fn query(
        &self,
        sql: impl Into<Cow<'static, str>>,
        values: Vec<Value>,
    ) -> StoreResult<Output> {
        self.read_script(&Script::of(sql, values)).await.and_then(only)
    }

    /// Executes a single write.
    pub(crate) async fn execute(
        &self,
        sql: impl Into<Cow<'static, str>>,
        values: Vec<Value>,
    ) -> StoreResult<Output> {
        self.write_script(&Script::of(sql, values)).await.and_then(only)
    }

    /// Reads from one snapshot, in one round trip.
    pub(crate) async fn read_script(&self, script: &Script) -> StoreResult<Outputs> {
        let frame = Frame { opening: Some(self.opening(script, self.opening_of_reads())), is_last: true };
        retry!(self.attempt(frame, script, Retry::Safe).await)
    }

    /// Long-running reads from one snapshot.
    pub(crate) async fn read_long_script(&self, script: &Script) -> StoreResult<Outputs> {
        let frame = Frame { opening: Some(self.opening_of_reads()), is_last: true };
        retry!(self.attempt(frame, script, Retry::Safe).await)
    }

    /// Writes without a decision, atomically, in one round trip.
    pub(crate) async fn write_script(&self, script: &Script) -> StoreResult<Outputs> {
        retry!(self.attempt_write(script, Retry::Unsafe).await)
    }

    /// Idempotent writes without a decision, in one round trip: retried after a lost connection even if the
    /// commit may have succeeded.
    pub(crate) async fn write_idempotent_script(&self, script: &Script) -> StoreResult<Outputs> {
        retry!(self.attempt_write(script, Retry::Safe).await)
    }

    /// Writes without a decision, in one round trip; `None`, with nothing written, on a conflict.
    pub(crate) async fn try_write_script(&self, script: &Script) -> StoreResult<Option<Outputs>> {
        match self.attempt_write(script, Retry::Unsafe).await {
            Ok(outputs) => Ok(Some(outputs)),
            Err(Failed(fault, _)) if fault.remedy == Remedy::Retry => Ok(None),
            Err(Failed(fault, _)) => Err(fault.into()),
        }
    }

    /// Reads (with locks), decides and writes in one transaction. The decision is made again after a conflict.
    pub(crate) async fn transact_script<T: Send>(
        &self,
        reads: &Script,
        decide: impl Fn(&Outputs) -> Fallible<Decision<T>> + Send + Sync,
    ) -> StoreResult<T> {
        retry!(self.attempt_transaction(reads, &decide).await)
    }

    /// BEGIN statement; a single statement needs less.
    fn opening<'a>(&'a self, script: &Script, opening: &'a str) -> &'a str {
        if script.statements.len() == 1 { self.opening_of_one() } else { opening }
    }

    async fn attempt_write(&self, script: &Script, retry: Retry) -> Result<Outputs, Failed> {
        let frame = Frame { opening: Some(self.opening(script, self.opening_of_writes())), is_last: true };
        self.attempt(frame, script, retry).await
    }

    async fn attempt(&self, frame: Frame<'_>, script: &Script, retry: Retry) -> Result<Outputs, Failed> {
        let mut connection = self.connection().await.map_err(|fault| Failed(fault, Retry::Unsafe))?;
        connection.exchange(frame, script).await.map_err(|fault| Failed(fault, retry))
    }

    async fn attempt_transaction<T: Send>(
        &self,
        reads: &Script,
        decide: &(impl Fn(&Outputs) -> Fallible<Decision<T>> + Send + Sync),
    ) -> Result<T, Failed> {
        let mut connection: Connection =
            self.connection().await.map_err(|fault| Failed(fault, Retry::Unsafe))?;
        let opening = Frame { opening: Some(self.opening_of_writes()), is_last: false };
        let outputs =
            connection.exchange(opening, reads).await.map_err(|fault| Failed(fault, Retry::Safe))?;

        let unsafe_to_retry = |fault| Failed(fault, Retry::Unsafe);
        match decide(&outputs).map_err(unsafe_to_retry)? {
            Decision::Return(output) => Ok(output),
            Decision::Write(writes, finish) => {
                let last = Frame { opening: None, is_last: true };
                let outputs = connection.exchange(last, &writes).await.map_err(unsafe_to_retry)?;
                finish(&outputs).map_err(unsafe_to_retry)
            }
        }
    }
}

fn only(mut outputs: Outputs) -> StoreResult<Output> {
    outputs.take_first().map_err(StoreError::from)
}
