//! A rendered mail with sender and recipient, and its wire format (RFC 5322, MIME).

use std::fmt;
use std::time::{Duration, UNIX_EPOCH};

use latchkey_domain::time::Timestamp;
use lettre::message::header::{Header, HeaderName, HeaderValue};
use lettre::message::{MultiPart, SinglePart};

use crate::address::{Mailbox, ascii_address};

const LONGEST_ID: usize = 100;
/// Last millisecond of the year 9999, the limit of a `Date` header.
const LAST_DATE: i64 = 253_402_300_799_999;

/// Left side of a `Message-ID`: 1 to 100 letters, digits, `-` and `_`; usually the UUID of the outbox row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MessageId(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 100 ASCII letters, digits, - and _")]
pub struct InvalidMessageId;

impl MessageId {
    pub fn parse(text: &str) -> Result<Self, InvalidMessageId> {
        let is_id = (1..=LONGEST_ID).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if is_id { Ok(Self(text.to_owned())) } else { Err(InvalidMessageId) }
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A mail ready to be sent. `Debug` shows only the id, because its bodies hold codes and links.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    /// Id of the mail, the same for every delivery attempt, so that duplicates can be recognised.
    pub message_id: MessageId,
    pub from: Mailbox,
    /// The recipient, as entered by the user.
    pub to: String,
    /// Subject, a single line.
    pub subject: String,
    /// Plain text body with `\n` line ends.
    pub text: String,
    pub html: String,
    /// Time of the event that caused the mail; the same for every delivery attempt.
    pub date: Timestamp,
}

/// Error of encoding a mail. Its text is safe for logs: it contains nothing of the mail's content or recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// The recipient is not an address that all mail servers accept: an ASCII local part, one `@`, a host name.
    #[error("the recipient's address cannot be used in a mail")]
    Recipient,
    /// The date is before 1970 or after 9999.
    #[error("the date is out of range")]
    Date,
    /// The library cannot encode the message.
    #[error("the mail cannot be encoded")]
    Encoding,
}

impl Message {
    /// Encodes headers and `multipart/alternative` with both bodies in UTF-8, ASCII only on the wire. The same mail
    /// always gives the same bytes.
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
            .subject(crate::sanitize::single_line(&self.subject))
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

/// The header `Auto-Submitted: auto-generated` (RFC 3834), which suppresses out-of-office replies.
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
