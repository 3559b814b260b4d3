//! Mails on their way out, and the inbox of development mode.

use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::mail_schedule::MailSchedule;
use latchkey_mail::{Mailbox, Templates, Transport};

use crate::kernel::Kernel;

mod deliver;
pub mod inbox;

pub use deliver::Delivered;

/// The rendering and sending of mails.
pub struct Mailer {
    /// The templates of mails.
    pub templates: Templates,
    /// The transport; `None` keeps mails in the outbox.
    pub transport: Option<Transport>,
}

/// Retries of a mail that does not go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailRetries {
    /// The wait after the first failure; doubles with each further one.
    pub first: Duration,
    /// The longest wait.
    pub longest: Duration,
    /// After so many tries it is dead.
    pub attempts: u32,
    /// Lease of claimed mails: after a crash they wait as long. A mail that takes longer than
    /// three quarters of it is tried again.
    pub lease: Duration,
}

impl MailRetries {
    /// The waits of a mail.
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

/// The use cases of mails on their way out.
pub struct Outbox {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) mailer: Mailer,
    pub(crate) sender: Mailbox,
    pub(crate) retries: MailRetries,
}
