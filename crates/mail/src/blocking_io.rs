//! Blocking file I/O off the runtime's threads.

use std::io;

/// Runs blocking file I/O on the blocking pool. Concurrency is low: the outbox worker, or a developer's inbox
/// page.
#[expect(clippy::disallowed_methods, reason = "a handful of small files; the outbox bounds how many at once")]
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
