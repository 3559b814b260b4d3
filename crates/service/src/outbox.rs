//! The outbox: delivery of mails, the operator's commands for mails, and the inbox page of development mode. Mails are
//! written by `kernel::mail_writer`.

use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::mail_schedule::MailSchedule;
use latchkey_mail::{Mailbox, Templates, Transport};

use crate::kernel::Kernel;

mod deliver;
pub mod inbox;
mod stored;

pub use deliver::Delivered;
pub use latchkey_store::{ListMails, ListedMail, MailKey, MailPage, MailPosition, MailState};
pub use stored::Retried;

/// The templates and the transport of mails.
pub struct Mailer {
    pub templates: Templates,
    /// The transport; with `None`, mails stay in the outbox.
    pub transport: Option<Transport>,
}

/// Retry delays of mail delivery, and the lease of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailRetries {
    /// The wait after the first failed attempt to send a mail. It doubles with each further failure.
    pub first: Duration,
    /// The longest wait between two attempts to send a mail.
    pub longest: Duration,
    /// Maximum number of attempts to send a mail. After the last one the mail is dead (never retried).
    pub attempts: u32,
    /// The lease of a claimed mail: if the instance crashes, the mail is claimed again after this time. A send that
    /// takes longer than three quarters of the lease is cancelled and retried.
    pub lease: Duration,
}

impl MailRetries {
    #[must_use]
    pub const fn schedule(&self) -> MailSchedule {
        MailSchedule { first: self.first, longest: self.longest, lease: self.lease }
    }
}

impl Default for MailRetries {
    fn default() -> Self {
        let MailSchedule { first, longest, lease } = MailSchedule::default();
        Self { first, longest, attempts: 30, lease }
    }
}

pub struct Outbox {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) mailer: Mailer,
    pub(crate) sender: Mailbox,
    pub(crate) retries: MailRetries,
}

impl Outbox {
    /// Returns the name of the transport in the settings; `None` if none is configured.
    #[must_use]
    pub fn transport(&self) -> Option<&'static str> {
        self.mailer.transport.as_ref().map(Transport::name)
    }
}
