//! Mailbox of a test, filled by the transport that keeps mails in memory.

use latchkey_domain::codes::EnteredCode;
use latchkey_mail::{MemoryTransport, Message, SendError};

/// Reads sent mails, and can make the transport fail.
pub struct MailReader {
    transport: MemoryTransport,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// Recipient's address, as the user typed it.
    pub to: String,
    pub subject: String,
    pub text: String,
    pub html: String,
    /// Part of `Message-ID` before the `@`.
    pub message_id: String,
}

impl MailReader {
    pub(crate) fn new(transport: MemoryTransport) -> Self {
        Self { transport }
    }

    /// Newest mail to this address, compared without case.
    #[must_use]
    #[track_caller]
    pub fn last(&self, address: &str) -> Mail {
        let found = self.transport.last_to(address).map(Mail::from);
        found.unwrap_or_else(|| panic!("no mail to {address}; mails went to {:?}", self.recipients()))
    }

    /// All mails to this address, oldest first.
    #[must_use]
    pub fn all(&self, address: &str) -> Vec<Mail> {
        let sent = self.transport.sent().into_iter();
        sent.filter(|mail| mail.to.eq_ignore_ascii_case(address)).map(Mail::from).collect()
    }

    /// Number of mails to this address.
    #[must_use]
    pub fn count(&self, address: &str) -> usize {
        self.all(address).len()
    }

    /// Total number of mails.
    #[must_use]
    pub fn total(&self) -> usize {
        self.transport.sent().len()
    }

    /// Recipients, oldest mail first.
    #[must_use]
    pub fn recipients(&self) -> Vec<String> {
        self.transport.sent().into_iter().map(|mail| mail.to).collect()
    }

    /// Deletes all mails.
    pub fn clear(&self) {
        self.transport.clear();
    }

    /// Makes the next `count` deliveries fail transiently.
    pub fn fail_next(&self, count: usize) {
        self.transport.fail_next(count, SendError::Transient("told to fail".to_owned()));
    }

    /// Makes the next `count` deliveries fail permanently.
    pub fn refuse_next(&self, count: usize) {
        self.transport.fail_next(count, SendError::Permanent("told to refuse".to_owned()));
    }
}

impl Mail {
    /// Returns the text part of the mail, joined to one line.
    #[must_use]
    pub fn prose(&self) -> String {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the code in the mail: six digits, or sixteen characters in groups, on a line of its
    /// own.
    #[must_use]
    #[track_caller]
    pub fn code(&self) -> String {
        let is_code = |line: &&str| !line.contains(' ') && EnteredCode::parse(line).is_ok();
        let code = self.text.lines().map(str::trim).find(is_code);
        code.unwrap_or_else(|| panic!("no code in {self:#?}")).to_owned()
    }

    /// Returns the first link with a token, or else the first link. A client's `get` accepts it.
    #[must_use]
    #[track_caller]
    pub fn link(&self) -> String {
        let links = || self.text.split_whitespace().filter(|word| word.starts_with("http"));
        let link = links().find(|link| link.contains("token=")).or_else(|| links().next());
        link.unwrap_or_else(|| panic!("no link in {self:#?}")).to_owned()
    }

    /// Returns the token in the link.
    #[must_use]
    #[track_caller]
    pub fn token(&self) -> String {
        let link = self.link();
        let (_, token) = link.split_once("token=").unwrap_or_else(|| panic!("no token in {self:#?}"));
        token.to_owned()
    }
}

impl From<Message> for Mail {
    fn from(message: Message) -> Self {
        Self {
            to: message.to,
            subject: message.subject,
            text: message.text,
            html: message.html,
            message_id: message.message_id.to_string(),
        }
    }
}
