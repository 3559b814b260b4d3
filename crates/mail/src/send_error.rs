//! Delivery errors, common to all transports.

use crate::message::MessageError;

/// A delivery error. Safe for logs: no address, code or credential, and of the peer's replies only the status
/// codes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// A retry may succeed.
    #[error("{0}")]
    Transient(String),
    /// The mail will never be accepted.
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
