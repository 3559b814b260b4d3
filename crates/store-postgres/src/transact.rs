//! How operations run: a statement of its own, a script in one round trip, or reads, a decision and writes in two.
//! An operation cannot take more than two by construction: the decision is a plain function between them.

use std::borrow::Cow;

use latchkey_store::{StoreError, StoreResult};

use crate::errors::{Fallible, Fault, Remedy};
use crate::link::{Frame, Link};
use crate::script::{Answer, Answers, Script};
use crate::store::Postgres;
use crate::values::Value;

/// How often an operation is tried where others come in its way.
const ATTEMPTS: u32 = 12;

/// What a decision says.
pub(crate) enum Step<T> {
    /// Nothing is to be written: this is the answer.
    Answer(T),
    /// This is to be written and committed; then the answer is made of what that yielded.
    Write(Script, Finish<T>),
}

/// Makes the answer of an operation.
pub(crate) type Finish<T> = Box<dyn FnOnce(&Answers) -> Fallible<T> + Send>;

impl<T> Step<T> {
    /// Writes, if there is anything to write; the answer is known already.
    pub(crate) fn done(script: Script, answer: T) -> Self
    where
        T: Send + 'static,
    {
        if script.is_empty() { Self::Answer(answer) } else { Self::write(script, move |_| Ok(answer)) }
    }

    /// Writes; the answer is made of what that yields.
    pub(crate) fn write(
        script: Script,
        finish: impl FnOnce(&Answers) -> Fallible<T> + Send + 'static,
    ) -> Self {
        Self::Write(script, Box::new(finish))
    }
}

/// Whether a lost connection may be made good by another: not where a commit may have come through.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loss {
    Harmless,
    Doubtful,
}

/// A fault, and what it may have left behind.
struct Failed(Fault, Loss);

impl Failed {
    fn is_worth_another_try(&self) -> bool {
        match self.0.remedy {
            Remedy::Again => true,
            Remedy::Reconnect => self.1 == Loss::Harmless,
            Remedy::None => false,
        }
    }
}

/// Tries until it works, or fails in a way that another try would not mend.
macro_rules! persist {
    ($attempt:expr) => {{
        let mut attempts = 1;
        loop {
            match $attempt {
                Ok(answer) => break Ok(answer),
                Err(failed) if attempts < ATTEMPTS && failed.is_worth_another_try() => attempts += 1,
                Err(Failed(fault, _)) => break Err(StoreError::from(fault)),
            }
        }
    }};
}

impl Postgres {
    /// Asks one question.
    pub(crate) async fn ask(
        &self,
        sql: impl Into<Cow<'static, str>>,
        values: Vec<Value>,
    ) -> StoreResult<Answer> {
        self.read_script(&Script::of(sql, values)).await.and_then(only)
    }

    /// Writes with one statement.
    pub(crate) async fn tell(
        &self,
        sql: impl Into<Cow<'static, str>>,
        values: Vec<Value>,
    ) -> StoreResult<Answer> {
        self.write_script(&Script::of(sql, values)).await.and_then(only)
    }

    /// Reads of one moment, in one round trip.
    pub(crate) async fn read_script(&self, script: &Script) -> StoreResult<Answers> {
        let frame = Frame { opening: Some(self.opening(script, self.opening_of_reads())), is_last: true };
        persist!(self.attempt(frame, script, Loss::Harmless).await)
    }

    /// The same for reads that can take long.
    pub(crate) async fn read_long_script(&self, script: &Script) -> StoreResult<Answers> {
        let frame = Frame { opening: Some(self.opening_of_reads()), is_last: true };
        persist!(self.attempt(frame, script, Loss::Harmless).await)
    }

    /// Writes without a decision, in one round trip: all or none.
    pub(crate) async fn write_script(&self, script: &Script) -> StoreResult<Answers> {
        persist!(self.attempt_write(script, Loss::Doubtful).await)
    }

    /// Writes without a decision, in one round trip, that may be made twice without harm: a lost connection is made good
    /// even where they may have come through.
    pub(crate) async fn repeat_script(&self, script: &Script) -> StoreResult<Answers> {
        persist!(self.attempt_write(script, Loss::Harmless).await)
    }

    /// Writes without a decision, in one round trip, unless others come in its way: `None` then, and nothing is written.
    pub(crate) async fn try_script(&self, script: &Script) -> StoreResult<Option<Answers>> {
        match self.attempt_write(script, Loss::Doubtful).await {
            Ok(answers) => Ok(Some(answers)),
            Err(Failed(fault, _)) if fault.remedy == Remedy::Again => Ok(None),
            Err(Failed(fault, _)) => Err(fault.into()),
        }
    }

    /// Reads (and locks), decides, writes: all or none. The decision is taken anew where another transaction came
    /// in between.
    pub(crate) async fn transact_script<T: Send>(
        &self,
        reads: &Script,
        decide: impl Fn(&Answers) -> Fallible<Step<T>> + Send + Sync,
    ) -> StoreResult<T> {
        persist!(self.attempt_two(reads, &decide).await)
    }

    /// The beginning of a transaction: a single statement needs less.
    fn opening<'a>(&'a self, script: &Script, opening: &'a str) -> &'a str {
        if script.statements.len() == 1 { self.opening_of_one() } else { opening }
    }

    async fn attempt_write(&self, script: &Script, loss: Loss) -> Result<Answers, Failed> {
        let frame = Frame { opening: Some(self.opening(script, self.opening_of_writes())), is_last: true };
        self.attempt(frame, script, loss).await
    }

    async fn attempt(&self, frame: Frame<'_>, script: &Script, loss: Loss) -> Result<Answers, Failed> {
        let mut link = self.link().await.map_err(|fault| Failed(fault, Loss::Doubtful))?;
        link.exchange(frame, script).await.map_err(|fault| Failed(fault, loss))
    }

    async fn attempt_two<T: Send>(
        &self,
        reads: &Script,
        decide: &(impl Fn(&Answers) -> Fallible<Step<T>> + Send + Sync),
    ) -> Result<T, Failed> {
        let mut link: Link = self.link().await.map_err(|fault| Failed(fault, Loss::Doubtful))?;
        let opening = Frame { opening: Some(self.opening_of_writes()), is_last: false };
        let answers = link.exchange(opening, reads).await.map_err(|fault| Failed(fault, Loss::Harmless))?;

        let doubtful = |fault| Failed(fault, Loss::Doubtful);
        match decide(&answers).map_err(doubtful)? {
            Step::Answer(answer) => Ok(answer),
            Step::Write(writes, finish) => {
                let last = Frame { opening: None, is_last: true };
                let answers = link.exchange(last, &writes).await.map_err(doubtful)?;
                finish(&answers).map_err(doubtful)
            }
        }
    }
}

fn only(mut answers: Answers) -> StoreResult<Answer> {
    answers.take_first().map_err(StoreError::from)
}
