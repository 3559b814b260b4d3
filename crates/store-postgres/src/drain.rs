//! Draining of abandoned connections: statements are still running, but no caller waits for them. The server
//! continues them until the statement timeout, and the connection keeps its place in the pool until then;
//! otherwise more statements could run than the pool allows. No cancel request is sent: pgbouncer 1.18 has been
//! seen to crash on one.

use std::time::Duration;

use deadpool_postgres::{Client, Object};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Drains a connection in the background. It returns to the pool when its statements have ended, and is closed
/// after `limit`.
pub(crate) fn drain(client: Client, in_transaction: bool, limit: Duration) {
    match Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn(drain_in_background(client, in_transaction, limit))),
        Err(_) => drop(Object::take(client)),
    }
}

async fn drain_in_background(client: Client, in_transaction: bool, limit: Duration) {
    // Responses arrive in order, so this one's response means that the others are complete.
    let last = if in_transaction { "ROLLBACK" } else { "" };
    if !matches!(timeout(limit, client.batch_execute(last)).await, Ok(Ok(()))) {
        drop(Object::take(client));
    }
}
