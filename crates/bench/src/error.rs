//! Errors of a benchmark run.

use std::error::Error;

/// Reason for which a run was aborted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    /// Failed file, socket or process operation.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Failed system call.
    #[error(transparent)]
    Kernel(#[from] rustix::io::Errno),
    /// Failed store operation.
    #[error(transparent)]
    Store(#[from] latchkey_store::StoreError),
    /// A server sent an invalid HTTP response.
    #[error("an answer is no HTTP/1.1")]
    NoHttp,
    /// A server did not start, or stopped.
    #[error("{0}")]
    Server(String),
    /// Any other error.
    #[error(transparent)]
    Other(Box<dyn Error + Send + Sync>),
}

/// Result with the error type of this crate.
pub(crate) type Result<T, E = BenchError> = std::result::Result<T, E>;

impl BenchError {
    /// Wraps any other error.
    pub(crate) fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }
}
