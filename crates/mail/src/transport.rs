//! The mail transports as one enum. Each is implemented in its own file.

use crate::file::FileTransport;
use crate::memory::MemoryTransport;
use crate::message::Message;
use crate::send_error::SendError;
use crate::smtp::SmtpTransport;

pub enum Transport {
    Smtp(SmtpTransport),
    /// `.eml` files in a folder.
    File(FileTransport),
    /// Mails stored in memory, for tests.
    Memory(MemoryTransport),
}

impl Transport {
    /// Sends one mail. Success means that the mail server, folder or memory has accepted it.
    pub async fn send(&self, message: &Message) -> Result<(), SendError> {
        match self {
            Self::Smtp(transport) => transport.send(message).await,
            Self::File(transport) => transport.send(message).await,
            Self::Memory(transport) => transport.send(message),
        }
    }

    /// Closes idle SMTP connections with QUIT, before a pause or the stop of the service.
    pub async fn close_idle(&self) {
        if let Self::Smtp(transport) = self {
            transport.close_idle().await;
        }
    }

    /// Returns the name in settings and logs: `smtp`, `file` or `memory`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Smtp(_) => "smtp",
            Self::File(_) => "file",
            Self::Memory(_) => "memory",
        }
    }
}
