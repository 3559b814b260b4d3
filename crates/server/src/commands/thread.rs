//! Work of a command on a thread of its own.

use tokio::sync::oneshot;

use super::CommandError;

/// Runs work that blocks, such as the copy of a large file, on a thread, so that a signal can end the command meanwhile. It is
/// not waited for then.
pub(super) async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CommandError> + Send + 'static,
) -> Result<T, CommandError> {
    let (reply, answer) = oneshot::channel();
    std::thread::Builder::new().name("command".to_owned()).spawn(move || drop(reply.send(work())))?;
    // The thread replies unless it panicked, which has told why.
    answer.await.unwrap_or_else(|_| Err(CommandError::Refused("the command panicked".to_owned())))
}
