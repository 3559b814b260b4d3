//! Why a benchmark stops.

use std::error::Error;

/// Why a benchmark stops.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    /// A file, a socket or a process.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A call of the kernel.
    #[error(transparent)]
    Kernel(#[from] rustix::io::Errno),
    /// A store.
    #[error(transparent)]
    Store(#[from] latchkey_store::StoreError),
    /// A server answered something else than HTTP.
    #[error("an answer is no HTTP/1.1")]
    NoHttp,
    /// A server did not start or stopped.
    #[error("{0}")]
    Server(String),
    /// Anything else.
    #[error(transparent)]
    Other(Box<dyn Error + Send + Sync>),
}

/// Of this crate.
pub(crate) type Result<T, E = BenchError> = std::result::Result<T, E>;

impl BenchError {
    /// Anything else.
    pub(crate) fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }
}
