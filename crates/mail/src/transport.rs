//! The ways out, as one enum. What each of them does stands in its own file.

use crate::file::FileTransport;
use crate::memory::MemoryTransport;
use crate::message::Message;
use crate::send_error::SendError;
use crate::smtp::SmtpTransport;

/// How mails leave.
pub enum Transport {
    /// To a mail server.
    Smtp(SmtpTransport),
    /// One `.eml` file each into a folder.
    File(FileTransport),
    /// Kept in memory, for tests.
    Memory(MemoryTransport),
}

impl Transport {
    /// Hands one mail over. Success means that the other side has taken charge of it.
    pub async fn send(&self, message: &Message) -> Result<(), SendError> {
        match self {
            Self::Smtp(transport) => transport.send(message).await,
            Self::File(transport) => transport.send(message).await,
            Self::Memory(transport) => transport.send(message),
        }
    }

    /// Gives back what is held for the next mail, such as open connections. For a pause and for the end.
    pub async fn rest(&self) {
        if let Self::Smtp(transport) = self {
            transport.close_idle().await;
        }
    }

    /// The transport's name in settings and logs: `smtp`, `file` or `memory`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Smtp(_) => "smtp",
            Self::File(_) => "file",
            Self::Memory(_) => "memory",
        }
    }
}
