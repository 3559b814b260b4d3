//! Blocking file I/O on tokio's blocking pool, off the async worker threads.

use std::io;

/// Runs blocking file I/O on tokio's blocking pool. Only the outbox worker and the inbox page of development mode call
/// it, so few calls run at once.
#[expect(clippy::disallowed_methods, reason = "a handful of small files; the outbox bounds how many at once")]
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
