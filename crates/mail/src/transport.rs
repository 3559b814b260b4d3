//! The transports as one enum; each is implemented in its own file.

use crate::file::FileTransport;
use crate::memory::MemoryTransport;
use crate::message::Message;
use crate::send_error::SendError;
use crate::smtp::SmtpTransport;

/// A mail transport.
pub enum Transport {
    /// SMTP.
    Smtp(SmtpTransport),
    /// `.eml` files in a folder.
    File(FileTransport),
    /// In memory, for tests.
    Memory(MemoryTransport),
}

impl Transport {
    /// Sends one mail. Success means that the peer has taken responsibility for it.
    pub async fn send(&self, message: &Message) -> Result<(), SendError> {
        match self {
            Self::Smtp(transport) => transport.send(message).await,
            Self::File(transport) => transport.send(message).await,
            Self::Memory(transport) => transport.send(message),
        }
    }

    /// Releases idle connections, before a pause or the end.
    pub async fn close_idle(&self) {
        if let Self::Smtp(transport) = self {
            transport.close_idle().await;
        }
    }

    /// Name in settings and logs: `smtp`, `file` or `memory`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Smtp(_) => "smtp",
            Self::File(_) => "file",
            Self::Memory(_) => "memory",
        }
    }
}
