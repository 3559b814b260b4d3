//! Why a mail did not leave, as every transport says it.

use crate::message::MessageError;

/// Why a mail did not leave. The text may go to a log: it holds no address, code or credential, and nothing that the
/// other side said but its status codes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Another attempt may succeed.
    #[error("{0}")]
    Transient(String),
    /// This mail will never be taken.
    #[error("{0}")]
    Permanent(String),
}

impl SendError {
    /// True where another attempt may succeed.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Transient(_))
    }
}

impl From<MessageError> for SendError {
    fn from(error: MessageError) -> Self {
        Self::Permanent(error.to_string())
    }
}
