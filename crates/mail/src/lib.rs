//! Outgoing mail: templates, message format (RFC 5322) and transports.
//!
//! The outbox table, retries and dead letters belong to the store and to the outbox worker of the service.

pub mod address;
mod blocking_io;
pub mod context;
pub mod file;
pub mod inbox;
mod markdown;
pub mod memory;
pub mod message;
pub mod render;
mod sanitize;
pub mod send_error;
pub mod smtp;
#[cfg(test)]
#[path = "../tests/smtp_sink/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the integration tests, which use more of it")]
mod smtp_sink;
mod sources;
pub mod template;
pub mod transport;
mod wrap;

pub use address::{InvalidMailbox, Mailbox};
pub use context::{MailContext, SecurityEvent, UndoLink};
pub use file::FileTransport;
pub use inbox::{ParsedMail, StoredMail};
pub use memory::MemoryTransport;
pub use message::{InvalidMessageId, Message, MessageError, MessageId};
pub use render::{Rendered, TemplateError, Templates};
pub use send_error::SendError;
pub use smtp::SmtpTransport;
pub use smtp::settings::{InvalidSmtpSettings, SmtpPassword, SmtpSettings, TlsMode};
pub use template::Template;
pub use transport::Transport;
