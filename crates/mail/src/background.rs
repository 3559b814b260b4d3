//! Work on files, off the runtime's threads.

use std::io;

/// Files are read and written off the runtime's threads. Few at a time: one mail each, for the one outbox worker or
/// for a developer's inbox page.
#[expect(clippy::disallowed_methods, reason = "a handful of small files; the outbox bounds how many at once")]
pub(crate) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
