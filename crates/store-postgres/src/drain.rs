//! Draining of abandoned connections, whose statements are still running although no caller waits for them. The server
//! continues such statements until the statement timeout. Until then the connection counts in the pool; otherwise more
//! statements could run than the pool allows. No cancel request is sent, because pgbouncer 1.18 has been seen to crash
//! on one.

use std::time::Duration;

use deadpool::managed::Object;
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::link::PooledLink;

/// Waits in the background until the statements of a connection have ended, and returns it to the pool. Closes it if
/// that takes longer than `limit`.
pub(crate) fn drain(client: PooledLink, in_transaction: bool, limit: Duration) {
    match Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn(drain_in_background(client, in_transaction, limit))),
        Err(_) => drop(Object::take(client)),
    }
}

async fn drain_in_background(client: PooledLink, in_transaction: bool, limit: Duration) {
    // Responses arrive in order. The response to this statement means that all others are complete.
    let last = if in_transaction { "ROLLBACK" } else { "" };
    if !matches!(timeout(limit, client.batch_execute(last)).await, Ok(Ok(()))) {
        drop(Object::take(client));
    }
}
