//! Leaving a connection amid statements that nobody waits for any more. The server goes on with them until their own
//! timeout, and so long the connection keeps its place in the pool: otherwise there would be more statements under way
//! than the pool allows. No cancel request is sent: pgbouncer 1.18 was seen to crash at one.

use std::time::Duration;

use deadpool_postgres::{Client, Object};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Leaves a connection amid statements. It goes back to the pool when they end, and is closed where that takes longer
/// than `patience`.
pub(crate) fn give_up(client: Client, in_transaction: bool, patience: Duration) {
    match Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn(leave(client, in_transaction, patience))),
        Err(_) => drop(Object::take(client)),
    }
}

async fn leave(client: Client, in_transaction: bool, patience: Duration) {
    // Answers come in their order, so the answer to this one says that the others are over.
    let last = if in_transaction { "ROLLBACK" } else { "" };
    if !matches!(timeout(patience, client.batch_execute(last)).await, Ok(Ok(()))) {
        drop(Object::take(client));
    }
}
