//! Verification of email addresses: mailed codes and links.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::hmac;
use latchkey_domain::client::Client;
use latchkey_domain::codes::{CodeBudget, Purpose};
use latchkey_domain::email::EmailKey;
use latchkey_domain::limits::{LimitKey, Rate, Take};
use latchkey_settings::settings;

use crate::kernel::Kernel;
use crate::secrets::{CannotDerive, ServerSecret};
use crate::sessions::Sessions;

mod codes;
pub mod links;
pub mod redirect_target;
pub mod verify_email;

settings! {
    /// The limits of mails, and of the codes and links in them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Limits {
        /// Wrong attempts that a six-digit code bears, and that an account bears for one purpose across all its
        /// codes, in an hour and in a day. Addresses from which the account signed in during the last
        /// limits.sign_in_known_address_age are counted apart from all others, so that strangers do not lock out
        /// the owner. A side that is over its number of a day gets codes of 16 characters, which cannot be
        /// guessed and for which nothing is counted.
        "auth.code_attempts" => code_attempts: u32 [1..=100] = 5;
        "auth.code_attempts_per_hour" => code_attempts_per_hour: u32 [1..=1000] = 10;
        "auth.code_attempts_per_day" => code_attempts_per_day: u32 [1..=10_000] = 30;
        /// Mails to one recipient, for verification and reset each: the pause between two to one address, and
        /// the number to one mailbox, which is the address without its plus-tag: ada+shop@example.org counts as
        /// ada@example.org.
        "limits.mail_pause_per_recipient" => mail_recipient_pause: Duration = "60s";
        "limits.mail_per_recipient" => mail_recipient: Rate = "5/1h";
        /// Mails caused from one address.
        "limits.mail_per_address" => mail_address: Rate = "20/1h";
        /// Codes and links tried from one address.
        "limits.verification_per_address" => verification_address: Rate = "30/15m";
    }
}

settings! {
    /// The lifetimes of mailed codes and links.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Lifetimes {
        /// The life of a six-digit code.
        "auth.code_ttl" => code: Duration = "10m";
        /// The life of the emailed links.
        "auth.verify_link_ttl" => verify_link: Duration = "24h";
        "auth.reset_link_ttl" => reset_link: Duration = "30m";
    }
}

/// The use cases of mailed codes and links.
pub struct Mailbox {
    kernel: Arc<Kernel>,
    sessions: Arc<Sessions>,
    limits: Limits,
    lifetimes: Lifetimes,
    code_key: hmac::Key,
}

/// Derives the key of code MACs.
fn code_key(secret: &ServerSecret) -> Result<hmac::Key, CannotDerive> {
    secret.hmac_key("codes")
}

impl Limits {
    /// The wrong attempts that a code and its account bear.
    const fn code_budget(&self) -> CodeBudget {
        CodeBudget {
            per_code: self.code_attempts,
            per_hour: self.code_attempts_per_hour,
            per_day: self.code_attempts_per_day,
        }
    }
}

impl Mailbox {
    pub(crate) fn new(
        kernel: Arc<Kernel>,
        sessions: Arc<Sessions>,
        secret: &ServerSecret,
        limits: Limits,
        lifetimes: Lifetimes,
    ) -> Result<Self, CannotDerive> {
        Ok(Self { kernel, sessions, code_key: code_key(secret)?, limits, lifetimes })
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
        let pause = Rate { burst: 1, window: self.limits.mail_recipient_pause };
        let mut takes = self.kernel.limits.by_address("mails, per address", self.limits.mail_address, client);
        takes.push(recipient("mail pause", email.as_str(), pause));
        takes.push(recipient("mail recipient", &email.without_tag(), self.limits.mail_recipient));
        takes
    }

    /// A code or a link that is tried.
    pub(crate) fn attempt_takes(&self, client: &Client) -> Vec<Take> {
        let rate = self.limits.verification_address;
        self.kernel.limits.by_address("code and link verification, per address", rate, client)
    }
}
