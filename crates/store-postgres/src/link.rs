//! A connection in use: what goes over it in one round trip, and how it is left behind. Statements that are polled
//! together go out together (pipelining), and the server runs them in the order in which they were polled first.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use deadpool_postgres::{Client, Object};
use futures_util::future::{BoxFuture, FutureExt, MaybeDone, maybe_done};
use futures_util::stream::TryStreamExt;
use tokio_postgres::types::Type;

use crate::errors::{EngineFault, Fallible, Remedy, unavailable};
use crate::giving_up::give_up;
use crate::options::Prepared;
use crate::script::{Answer, Answers, Script, Statement};
use crate::values::Value;

/// What stands around a script: transactions are begun and ended in the same round trip as their statements.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    /// Begins a transaction.
    pub(crate) opening: Option<&'a str>,
    /// Commits it.
    pub(crate) is_last: bool,
}

/// A connection out of the pool. Dropped amid a transaction it sends a rollback, for which nobody waits; dropped amid
/// statements it goes back to the pool when they end.
pub(crate) struct Link {
    client: Option<Client>,
    in_transaction: bool,
    /// Whether an answer is outstanding.
    is_waiting: bool,
    prepared: Prepared,
    patience: Duration,
}

type Outcome = Result<Answer, tokio_postgres::Error>;

impl Link {
    /// Takes a connection that is in no transaction. A round trip that takes longer than `patience` is a fault.
    pub(crate) const fn new(client: Client, prepared: Prepared, patience: Duration) -> Self {
        Self { client: Some(client), in_transaction: false, is_waiting: false, prepared, patience }
    }

    /// One round trip. The fault is that of the first statement that failed; the server takes the whole
    /// transaction back then, a commit included.
    pub(crate) async fn exchange(&mut self, frame: Frame<'_>, script: &Script) -> Fallible<Answers> {
        let Some(client) = &self.client else { return Err(unavailable(EngineFault::Silent).into()) };
        self.in_transaction |= frame.opening.is_some();
        self.is_waiting = true;
        let sent = send(client, self.prepared, frame, script);
        let Ok(outcomes) = tokio::time::timeout(self.patience, sent).await else {
            self.abandon();
            return Err(unavailable(EngineFault::Silent).into());
        };
        self.is_waiting = false;
        let outcome = outcomes.and_then(|outcomes| {
            if frame.is_last && outcomes.last().is_some_and(Result::is_ok) {
                self.in_transaction = false; // committed or taken back: over in any case
            }
            answers_of(frame, outcomes)
        });
        if outcome.as_ref().is_err_and(|fault| fault.remedy == Remedy::Reconnect) {
            self.abandon();
        }
        outcome
    }

    /// A connection that is not known to be sound does not go back to the pool.
    fn abandon(&mut self) {
        if let Some(client) = self.client.take() {
            drop(Object::take(client));
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if self.is_waiting {
            if let Some(client) = self.client.take() {
                give_up(client, self.in_transaction, self.patience);
            }
            return;
        }
        if let Some(client) = &self.client
            && self.in_transaction
        {
            // Polled once: it is sent, and its answer is dropped by the connection.
            let _ = client.batch_execute("ROLLBACK").now_or_never();
        }
    }
}

/// Sends everything and waits for everything: the opening, the statements, the commit.
async fn send(
    client: &Client,
    prepared: Prepared,
    frame: Frame<'_>,
    script: &Script,
) -> Fallible<Vec<Outcome>> {
    if prepared == Prepared::Named {
        prepare_missing(client, script).await?;
    }
    let mut sent: Vec<BoxFuture<'_, Outcome>> = Vec::with_capacity(script.statements.len() + 2);
    if let Some(opening) = frame.opening {
        sent.push(command(client, opening).boxed());
    }
    for statement in &script.statements {
        sent.push(match prepared {
            Prepared::Never => run_unnamed(client, statement).boxed(),
            Prepared::Named => run_named(client, statement).boxed(),
        });
    }
    if frame.is_last {
        sent.push(command(client, "COMMIT").boxed());
    }
    Ok(in_order(sent).await)
}

/// Polls all of them, always in their order, until all are done.
async fn in_order(sent: Vec<BoxFuture<'_, Outcome>>) -> Vec<Outcome> {
    let mut running: Vec<MaybeDone<_>> = sent.into_iter().map(maybe_done).collect();
    poll_fn(|context| {
        let mut is_done = true;
        for one in &mut running {
            is_done &= Pin::new(one).poll(context).is_ready();
        }
        if is_done { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    running.iter_mut().filter_map(|one| Pin::new(one).take_output()).collect()
}

fn answers_of(frame: Frame<'_>, outcomes: Vec<Outcome>) -> Fallible<Answers> {
    let mut answers = outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
    if frame.is_last {
        answers.pop();
    }
    if frame.opening.is_some() {
        answers.remove(0);
    }
    Ok(Answers::new(answers))
}

async fn command(client: &Client, sql: &str) -> Outcome {
    client.batch_execute(sql).await?;
    Ok(Answer::default())
}

/// Parses, binds and executes in one message, under no name: right behind any pooler.
async fn run_unnamed(client: &Client, statement: &Statement) -> Outcome {
    let values = statement.values.iter().map(|value| (value, value.kind()));
    let mut stream = pin!(client.query_typed_raw(&statement.sql, values).await?);
    let mut rows = Vec::new();
    while let Some(row) = stream.try_next().await? {
        rows.push(row);
    }
    Ok(Answer { rows, affected: stream.rows_affected().unwrap_or_default() })
}

/// What is not prepared yet on this connection costs a round trip of its own, once.
async fn prepare_missing(client: &Client, script: &Script) -> Fallible<()> {
    for statement in &script.statements {
        client.prepare_typed_cached(&statement.sql, &kinds(statement)).await?;
    }
    Ok(())
}

async fn run_named(client: &Client, statement: &Statement) -> Outcome {
    let prepared = client.prepare_typed_cached(&statement.sql, &kinds(statement)).await?;
    let mut stream = pin!(client.query_raw(&prepared, &statement.values).await?);
    let mut rows = Vec::new();
    while let Some(row) = stream.try_next().await? {
        rows.push(row);
    }
    Ok(Answer { rows, affected: stream.rows_affected().unwrap_or_default() })
}

fn kinds(statement: &Statement) -> Vec<Type> {
    statement.values.iter().map(Value::kind).collect()
}
