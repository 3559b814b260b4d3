//! A rendered mail with its sender and recipient, and its form on the wire (RFC 5322, MIME).

use std::fmt;
use std::time::{Duration, UNIX_EPOCH};

use latchkey_domain::time::Timestamp;
use lettre::message::header::{Header, HeaderName, HeaderValue};
use lettre::message::{MultiPart, SinglePart};

use crate::address::{Mailbox, ascii_address};

/// Longest id of a message.
const LONGEST_ID: usize = 100;
/// The last millisecond of the year 9999, the end of what a `Date` header can say.
const LAST_DATE: i64 = 253_402_300_799_999;

/// The left side of a `Message-ID`: 1 to 100 letters, digits, `-` and `_`. An outbox row's UUID is a good one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MessageId(String);

/// The text is no message id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 100 ASCII letters, digits, - and _")]
pub struct InvalidMessageId;

impl MessageId {
    /// Reads an id.
    pub fn parse(text: &str) -> Result<Self, InvalidMessageId> {
        let is_id = (1..=LONGEST_ID).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if is_id { Ok(Self(text.to_owned())) } else { Err(InvalidMessageId) }
    }

    /// The id alone, without a host.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A mail that is ready to go. Its bodies hold codes and links, therefore `Debug` shows the id alone.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    /// The same at every attempt, so that a mail that arrives twice can be told.
    pub message_id: MessageId,
    /// The sender.
    pub from: Mailbox,
    /// One recipient: the address as its owner typed it.
    pub to: String,
    /// One line.
    pub subject: String,
    /// The plain text body, lines ended by `\n`.
    pub text: String,
    /// The HTML body.
    pub html: String,
    /// When the mail was caused; the same at every attempt.
    pub date: Timestamp,
}

/// Why a mail cannot be written. Says nothing about its content or recipient, so it may go to a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// No address that every mail server takes: one `@`, an ASCII local part, a host name.
    #[error("the recipient's address cannot be used in a mail")]
    Recipient,
    /// Before 1970 or after 9999.
    #[error("the date is out of range")]
    Date,
    /// The parts do not make a mail.
    #[error("the mail cannot be encoded")]
    Encoding,
}

impl Message {
    /// The whole mail: headers and `multipart/alternative` with both bodies in UTF-8, only ASCII on the wire. The same
    /// message gives the same bytes.
    pub fn to_rfc5322(&self) -> Result<Vec<u8>, MessageError> {
        let recipient = self.envelope_recipient()?;
        let millis = u64::try_from(self.date.as_millis()).map_err(|_| MessageError::Date)?;
        if self.date.as_millis() > LAST_DATE {
            return Err(MessageError::Date);
        }

        let boundary = format!("=_latchkey_{}", self.message_id);
        let bodies = MultiPart::alternative()
            .boundary(boundary)
            .singlepart(SinglePart::plain(self.text.clone()))
            .singlepart(SinglePart::html(self.html.clone()));
        let mail = lettre::Message::builder()
            .message_id(Some(format!("<{}@{}>", self.message_id, self.from.domain())))
            .date(UNIX_EPOCH + Duration::from_millis(millis))
            .from(self.from.to_header())
            .to(lettre::message::Mailbox::new(None, recipient))
            .subject(crate::plain_words::single_line(&self.subject))
            .header(AutoSubmitted)
            .multipart(bodies)
            .map_err(|_| MessageError::Encoding)?;
        Ok(mail.formatted())
    }

    pub(crate) fn envelope_recipient(&self) -> Result<lettre::Address, MessageError> {
        ascii_address(&self.to).ok_or(MessageError::Recipient)
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("message_id", &self.message_id).finish_non_exhaustive()
    }
}

/// `Auto-Submitted: auto-generated` (RFC 3834): asks for no out-of-office reply.
#[derive(Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

#[cfg(test)]
mod tests;
