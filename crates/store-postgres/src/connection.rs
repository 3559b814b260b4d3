//! A connection checked out of the pool. It sends a batch of statements in one round trip (pipelining):
//! statements whose futures are polled together are sent together, and the server executes them in the order
//! of the first poll. A connection that is dropped in the middle of its work is cleaned up.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use deadpool::managed::Object;
use futures_util::future::{BoxFuture, FutureExt, MaybeDone, maybe_done, try_join_all};
use futures_util::stream::TryStreamExt;
use tokio_postgres::types::Type;

use crate::drain::drain;
use crate::errors::{EngineFault, Fallible, Remedy, unavailable};
use crate::link::{Link, PooledLink};
use crate::opening::Opening;
use crate::script::{Output, Outputs, Script, Statement};
use crate::values::Value;

/// Statements that begin or end the transaction of a script. They share the round trip of the script's statements.
#[derive(Clone, Copy)]
pub(crate) enum Frame<'a> {
    /// BEGIN and COMMIT around a lone statement. They only set its timeout and isolation level, so they are left out if
    /// the session has these already.
    Lone(&'a Opening),
    /// BEGIN before the script, COMMIT after it.
    Whole(&'a Opening),
    /// BEGIN before the script; the transaction stays open.
    First(&'a Opening),
    /// The script alone, in an open transaction, which stays open.
    Middle,
    /// COMMIT after the script, whose transaction is open already.
    Last,
}

impl<'a> Frame<'a> {
    /// Returns the BEGIN statement to send first, and whether COMMIT follows the script.
    fn around(self, link: &Link) -> (Option<&'a str>, bool) {
        let is_direct = link.has_session_settings();
        match self {
            Self::Lone(_) if is_direct => (None, false),
            Self::Lone(opening) | Self::Whole(opening) => (Some(opening.on(is_direct)), true),
            Self::First(opening) => (Some(opening.on(is_direct)), false),
            Self::Middle => (None, false),
            Self::Last => (None, true),
        }
    }
}

/// A connection checked out of the pool. If it is dropped inside a transaction, it sends ROLLBACK without waiting for
/// the response. If it is dropped while statements are running, it returns to the pool once they have ended.
pub(crate) struct Connection {
    client: Option<PooledLink>,
    in_transaction: bool,
    /// True while responses of the server are outstanding.
    is_waiting: bool,
    response_timeout: Duration,
}

type Outcome = Result<Output, tokio_postgres::Error>;

impl Connection {
    /// Wraps a connection that is not in a transaction. A round trip longer than `response_timeout` fails.
    pub(crate) const fn new(client: PooledLink, response_timeout: Duration) -> Self {
        Self { client: Some(client), in_transaction: false, is_waiting: false, response_timeout }
    }

    /// Executes a script in one round trip. If a statement fails, returns the error of the first one that
    /// did; the server then rolls the whole transaction back, even if COMMIT follows.
    pub(crate) async fn exchange(&mut self, frame: Frame<'_>, script: &Script) -> Fallible<Outputs> {
        let Some(client) = &self.client else { return Err(unavailable(EngineFault::Timeout).into()) };
        let (opening, is_last) = frame.around(client);
        self.in_transaction |= opening.is_some();
        self.is_waiting = true;
        let sent = send(client, opening, script, is_last);
        let Ok(outcomes) = tokio::time::timeout(self.response_timeout, sent).await else {
            self.abandon();
            return Err(unavailable(EngineFault::Timeout).into());
        };
        self.is_waiting = false;
        let outcome = outcomes.and_then(|outcomes| {
            if is_last && outcomes.last().is_some_and(Result::is_ok) {
                self.in_transaction = false; // committed or rolled back: the transaction has ended in any case
            }
            outputs_of(outcomes, opening.is_some(), is_last)
        });
        if let Err(fault) = &outcome
            && fault.remedy == Remedy::Reconnect
        {
            if fault.is_of_statement_name() {
                client.suspect();
            }
            self.abandon();
        }
        outcome
    }

    /// Closes the connection instead of returning it to the pool, because its state is unknown.
    fn abandon(&mut self) {
        if let Some(client) = self.client.take() {
            drop(Object::take(client));
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.is_waiting {
            if let Some(client) = self.client.take() {
                drain(client, self.in_transaction, self.response_timeout);
            }
            return;
        }
        if let Some(client) = &self.client
            && self.in_transaction
        {
            // A single poll sends the statement. The connection discards the response.
            let _ = client.batch_execute("ROLLBACK").now_or_never();
        }
    }
}

/// Sends BEGIN if there is one, the statements, and COMMIT after the last, in one batch; awaits all responses.
async fn send(
    client: &Link,
    opening: Option<&str>,
    script: &Script,
    is_last: bool,
) -> Fallible<Vec<Outcome>> {
    if client.names_statements() {
        prepare_missing(client, script).await?;
    }
    let mut sent: Vec<BoxFuture<'_, Outcome>> = Vec::with_capacity(script.statements.len() + 2);
    if let Some(opening) = opening {
        sent.push(command(client, opening).boxed());
    }
    for statement in &script.statements {
        sent.push(if client.names_statements() {
            run_named(client, statement).boxed()
        } else {
            run_unnamed(client, statement).boxed()
        });
    }
    if is_last {
        sent.push(command(client, "COMMIT").boxed());
    }
    Ok(in_order(sent).await)
}

/// Polls all futures in order until all are complete, and returns their outputs.
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

/// Returns the results without those of BEGIN and COMMIT.
fn outputs_of(outcomes: Vec<Outcome>, has_opening: bool, is_last: bool) -> Fallible<Outputs> {
    let mut outputs = outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
    if is_last {
        outputs.pop();
    }
    if has_opening {
        outputs.remove(0);
    }
    Ok(Outputs::new(outputs))
}

async fn command(client: &Link, sql: &str) -> Outcome {
    client.batch_execute(sql).await?;
    Ok(Output::default())
}

/// Parses, binds and executes an unnamed statement in one batch of messages, which works behind any pooler.
async fn run_unnamed(client: &Link, statement: &Statement) -> Outcome {
    let values = statement.values.iter().map(|value| (value, value.kind()));
    let mut stream = pin!(client.query_typed_raw(&statement.sql, values).await?);
    let mut rows = Vec::new();
    while let Some(row) = stream.try_next().await? {
        rows.push(row);
    }
    Ok(Output { rows, affected: stream.rows_affected().unwrap_or_default() })
}

/// Prepares the statements that the connection has not prepared yet, in one round trip per script and connection.
async fn prepare_missing(client: &Link, script: &Script) -> Fallible<()> {
    let prepared = script.statements.iter().map(async |statement| {
        client.prepare_typed_cached(&statement.sql, &kinds(statement)).await.map(drop)
    });
    try_join_all(prepared).await?;
    Ok(())
}

async fn run_named(client: &Link, statement: &Statement) -> Outcome {
    let prepared = client.prepare_typed_cached(&statement.sql, &kinds(statement)).await?;
    let mut stream = pin!(client.query_raw(&prepared, &statement.values).await?);
    let mut rows = Vec::new();
    while let Some(row) = stream.try_next().await? {
        rows.push(row);
    }
    Ok(Output { rows, affected: stream.rows_affected().unwrap_or_default() })
}

fn kinds(statement: &Statement) -> Vec<Type> {
    statement.values.iter().map(Value::kind).collect()
}
