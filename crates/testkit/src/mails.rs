//! The mailbox of a test: what the memory transport took.

use latchkey_domain::codes::EnteredCode;
use latchkey_mail::{MemoryTransport, Message, SendError};

/// Reads what was sent, and tells the transport to fail.
pub struct MailReader {
    transport: MemoryTransport,
}

/// A mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// The recipient's address, as typed.
    pub to: String,
    /// The subject.
    pub subject: String,
    /// The plain text body.
    pub text: String,
    /// The HTML body.
    pub html: String,
    /// The left side of `Message-ID`.
    pub message_id: String,
}

impl MailReader {
    pub(crate) fn new(transport: MemoryTransport) -> Self {
        Self { transport }
    }

    /// The newest mail to this address, compared without case.
    #[must_use]
    #[track_caller]
    pub fn last(&self, address: &str) -> Mail {
        let found = self.transport.last_to(address).map(Mail::from);
        found.unwrap_or_else(|| panic!("no mail to {address}; mails went to {:?}", self.recipients()))
    }

    /// Every mail to this address, oldest first.
    #[must_use]
    pub fn all(&self, address: &str) -> Vec<Mail> {
        let sent = self.transport.sent().into_iter();
        sent.filter(|mail| mail.to.eq_ignore_ascii_case(address)).map(Mail::from).collect()
    }

    /// How many mails went to this address.
    #[must_use]
    pub fn count(&self, address: &str) -> usize {
        self.all(address).len()
    }

    /// How many mails there are.
    #[must_use]
    pub fn total(&self) -> usize {
        self.transport.sent().len()
    }

    /// To whom mails went, oldest first.
    #[must_use]
    pub fn recipients(&self) -> Vec<String> {
        self.transport.sent().into_iter().map(|mail| mail.to).collect()
    }

    /// Throws the mails away.
    pub fn clear(&self) {
        self.transport.clear();
    }

    /// The next `count` sends fail for the time being.
    pub fn fail_next(&self, count: usize) {
        self.transport.fail_next(count, SendError::Transient("told to fail".to_owned()));
    }

    /// The next `count` sends fail for good.
    pub fn refuse_next(&self, count: usize) {
        self.transport.fail_next(count, SendError::Permanent("told to refuse".to_owned()));
    }
}

impl Mail {
    /// The code, of six digits or of sixteen characters in groups, which stands in a line of its own.
    #[must_use]
    #[track_caller]
    pub fn code(&self) -> String {
        let is_code = |line: &&str| !line.contains(' ') && EnteredCode::parse(line).is_ok();
        let code = self.text.lines().map(str::trim).find(is_code);
        code.unwrap_or_else(|| panic!("no code in {self:#?}")).to_owned()
    }

    /// The link to open: the address with a token, else the first one. A client's `get` takes it as it is.
    #[must_use]
    #[track_caller]
    pub fn link(&self) -> String {
        let links = || self.text.split_whitespace().filter(|word| word.starts_with("http"));
        let link = links().find(|link| link.contains("token=")).or_else(|| links().next());
        link.unwrap_or_else(|| panic!("no link in {self:#?}")).to_owned()
    }

    /// The token of the link.
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
            message_id: message.message_id.as_str().to_owned(),
        }
    }
}
