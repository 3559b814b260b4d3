//! Leaving a connection amid a statement that nobody waits for any more. A server that runs a statement, or waits for a
//! lock, does not notice that a connection was closed; it has to be told, or its processes pile up past what the pool
//! allows.

use std::pin::pin;
use std::time::Duration;

use deadpool_postgres::{Client, Object};
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long the server may take to hear of it, and to answer then.
const LIMIT: Duration = Duration::from_secs(2);

/// Leaves a connection amid a statement. It goes back to the pool if the statement ends within `grace`; else its place in
/// the pool is free, the statement is cancelled, and the connection closed.
pub(crate) fn give_up(client: Client, tls: MakeRustlsConnect, in_transaction: bool, grace: Duration) {
    match Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn(leave(client, tls, in_transaction, grace))),
        Err(_) => drop(Object::take(client)),
    }
}

async fn leave(client: Client, tls: MakeRustlsConnect, in_transaction: bool, grace: Duration) {
    // Answers come in their order, so the answer to this one says that the others are over.
    let last = if in_transaction { "ROLLBACK" } else { "" };
    if !grace.is_zero() && matches!(timeout(grace, client.batch_execute(last)).await, Ok(Ok(()))) {
        return;
    }
    // Not to be used again, even if it answers: a cancellation that comes late would hit whoever has it then.
    let client = Object::take(client);
    let cancelled = async {
        // Fails where the server cannot be reached, and then there is nobody to tell.
        let _ = timeout(LIMIT, client.cancel_token().cancel_query(tls)).await;
    };
    // Open until then: a pooler forgets whose statement it was when its client is gone.
    let answered = timeout(LIMIT, client.batch_execute(last));
    let ((), _) = futures_util::future::join(pin!(cancelled), pin!(answered)).await;
}
