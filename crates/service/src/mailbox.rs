//! Proof of a mailbox: mailed codes and links.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::hmac;
use latchkey_domain::client::Client;
use latchkey_domain::codes::{CodeBudget, Purpose};
use latchkey_domain::email::EmailKey;
use latchkey_domain::limits::{LimitKey, Rate, Take};

use crate::kernel::Kernel;
use crate::secrets::{CannotDerive, ServerSecret};
use crate::sessions::Sessions;

mod codes;
pub mod links;
pub mod redirect_target;
pub mod verify_email;

/// The rate limits of mails, and of the codes and links in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Mails of one purpose to one recipient, in the short run.
    pub mail_recipient_pause: Rate,
    /// Mails of one purpose to one recipient, in the long run.
    pub mail_recipient: Rate,
    /// Mails caused by one client.
    pub mail_address: Rate,
    /// Codes and links tried by one client.
    pub verification_address: Rate,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            mail_recipient_pause: Rate::per(1, 60),
            mail_recipient: Rate::per(5, 3600),
            mail_address: Rate::per(20, 3600),
            verification_address: Rate::per(30, 900),
        }
    }
}

/// The lifetimes of mailed codes and links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// A mailed code.
    pub code: Duration,
    /// A verification link.
    pub verify_link: Duration,
    /// A reset link.
    pub reset_link: Duration,
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self {
            code: Duration::from_mins(10),
            verify_link: Duration::from_hours(24),
            reset_link: Duration::from_mins(30),
        }
    }
}

/// The use cases of mailed codes and links.
pub struct Mailbox {
    kernel: Arc<Kernel>,
    sessions: Arc<Sessions>,
    limits: Limits,
    lifetimes: Lifetimes,
    code_budget: CodeBudget,
    code_key: hmac::Key,
}

/// Derives the key of code MACs.
fn code_key(secret: &ServerSecret) -> Result<hmac::Key, CannotDerive> {
    secret.hmac_key("codes")
}

impl Mailbox {
    pub(crate) fn new(
        kernel: Arc<Kernel>,
        sessions: Arc<Sessions>,
        secret: &ServerSecret,
        code_budget: CodeBudget,
        limits: Limits,
        lifetimes: Lifetimes,
    ) -> Result<Self, CannotDerive> {
        Ok(Self { kernel, sessions, code_key: code_key(secret)?, code_budget, limits, lifetimes })
    }

    /// A mail. Many mails in an hour reach one mailbox by its plus-tags, so there they are counted together.
    pub(crate) fn mail_takes(&self, email: &EmailKey, purpose: Purpose, client: &Client) -> Vec<Take> {
        if !self.kernel.limits.is_enabled() {
            return Vec::new();
        }
        let recipient = |name, key: &str, rate| Take {
            key: LimitKey::new(name, &[purpose.as_str(), key]),
            rate,
            limit: "mails, per recipient",
        };
        let mut takes = self.kernel.limits.by_address("mails, per address", self.limits.mail_address, client);
        takes.push(recipient("mail pause", email.as_str(), self.limits.mail_recipient_pause));
        takes.push(recipient("mail recipient", &email.without_tag(), self.limits.mail_recipient));
        takes
    }

    /// A code or a link that is tried.
    pub(crate) fn attempt_takes(&self, client: &Client) -> Vec<Take> {
        let rate = self.limits.verification_address;
        self.kernel.limits.by_address("code and link verification, per address", rate, client)
    }
}
