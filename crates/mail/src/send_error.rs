//! Delivery errors, the same for all transports: SMTP, files and memory.

use crate::message::MessageError;

/// A delivery error. Its text is safe for logs: it contains no address, code or credential, and only the status codes
/// of a server's reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// A retry may succeed.
    #[error("{0}")]
    Transient(String),
    /// A retry cannot succeed.
    #[error("{0}")]
    Permanent(String),
}

impl SendError {
    /// True if a retry may succeed.
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
