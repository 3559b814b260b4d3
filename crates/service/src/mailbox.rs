//! Verification of email addresses, and sign-in by mail: limits and lifetimes of mailed codes and links. The use cases
//! are in the modules below.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::hmac;
use latchkey_domain::client::Client;
use latchkey_domain::codes::{CodeBudget, Purpose};
use latchkey_domain::email::EmailKey;
use latchkey_domain::limits::{LimitKey, Rate, Take};
use latchkey_settings::settings;

use crate::kernel::Kernel;
use crate::secrets::{CannotDerive, KeyUse, ServerSecret};
use crate::sessions::Sessions;

mod codes;
pub mod links;
pub mod redirect_target;
pub mod sign_in;
pub mod verify_email;

settings! {
    /// The limits of mails, and of attempts with the codes and links in them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Limits {
        /// Limits of wrong attempts with six-digit codes: per code, and per account and purpose across all its codes,
        /// in an hour and in a day. Addresses from which the account signed in during the last
        /// limits.sign_in_known_address_age have their own count, so that other clients cannot lock out the owner.
        /// Above the limit per day, codes have 16 characters, which cannot be guessed, and attempts are not counted.
        "auth.code_attempts" => code_attempts: u32 [1..=100] = 5;
        "auth.code_attempts_per_hour" => code_attempts_per_hour: u32 [1..=1000] = 10;
        "auth.code_attempts_per_day" => code_attempts_per_day: u32 [1..=10_000] = 30;
        /// Limits of mails to one recipient, separately for each purpose, such as verification or reset: the minimum interval between two mails
        /// to one address, and the maximum number to one mailbox, which is the address without its plus-tag:
        /// ada+shop@example.org counts as ada@example.org.
        "limits.mail_pause_per_recipient" => mail_recipient_pause: Duration = "60s";
        "limits.mail_per_recipient" => mail_recipient: Rate = "5/1h";
        /// The limit on mails caused from one client address.
        "limits.mail_per_address" => mail_address: Rate = "20/1h";
        /// The limit on codes and links tried from one client address.
        "limits.verification_per_address" => verification_address: Rate = "30/15m";
    }
}

settings! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Lifetimes {
        /// The lifetime of a six-digit code.
        "auth.code_ttl" => code: Duration = "10m";
        /// The lifetime of mailed links.
        "auth.verify_link_ttl" => verify_link: Duration = "24h";
        "auth.reset_link_ttl" => reset_link: Duration = "30m";
        "auth.sign_in_link_ttl" => sign_in_link: Duration = "15m";
    }
}

pub struct Mailbox {
    kernel: Arc<Kernel>,
    sessions: Arc<Sessions>,
    limits: Limits,
    lifetimes: Lifetimes,
    code_key: hmac::Key,
}

/// Derives the HMAC key of stored email codes.
fn code_key(secret: &ServerSecret) -> Result<hmac::Key, CannotDerive> {
    secret.hmac_key(KeyUse::Codes)
}

impl Limits {
    /// Returns the limits of wrong attempts per code and per account.
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

    /// Returns the minimum interval between two mails of one purpose to one address; zero if rate limits are off.
    #[must_use]
    pub fn pause(&self) -> Duration {
        if self.kernel.limits.is_enabled() { self.limits.mail_recipient_pause } else { Duration::ZERO }
    }

    /// Returns the requests for one token each from the three token buckets that limit a mail: the one of the
    /// client address, and those of [`Self::recipient_takes`].
    pub(crate) fn mail_takes(&self, email: &EmailKey, purpose: Purpose, client: &Client) -> Vec<Take> {
        let rate = self.limits.mail_address;
        let mut takes = self.kernel.limits.by_address("mails, per address", rate, client);
        takes.extend(self.recipient_takes(email, purpose));
        takes
    }

    /// Returns the requests for one token each from the two token buckets of a mail's recipient: one enforces
    /// the minimum interval between two mails, the other the number of mails to one mailbox. The latter
    /// ignores plus-tags, because all tagged addresses reach one mailbox.
    pub(crate) fn recipient_takes(&self, email: &EmailKey, purpose: Purpose) -> Vec<Take> {
        let pause = Rate { burst: 1, window: self.limits.mail_recipient_pause };
        let mut takes = self.recipient_take("mail pause", (purpose, email.as_str()), pause);
        takes.extend(self.mailbox_takes(email, purpose));
        takes
    }

    /// Returns the request for one token from the token bucket of mails to one mailbox. It alone limits the mails that an
    /// admin has sent, who need not wait.
    pub(crate) fn mailbox_takes(&self, email: &EmailKey, purpose: Purpose) -> Vec<Take> {
        let rate = self.limits.mail_recipient;
        self.recipient_take("mail recipient", (purpose, &email.without_tag()), rate)
    }

    fn recipient_take(&self, name: &str, (purpose, key): (Purpose, &str), rate: Rate) -> Vec<Take> {
        if !self.kernel.limits.is_enabled() {
            return Vec::new();
        }
        let key = LimitKey::new(name, &[purpose.as_str(), key]);
        vec![Take { key, rate, limit: "mails, per recipient" }]
    }

    /// Returns the time for which a mailed code is valid.
    pub(crate) const fn code_lifetime(&self) -> Duration {
        self.lifetimes.code
    }

    /// Returns the limits of mails to an address for all purposes, and those of wrong codes.
    pub(crate) fn account_limits(&self, email: &EmailKey) -> (Vec<(Take, Option<Purpose>)>, CodeBudget) {
        let takes = |purpose: &Purpose| {
            let takes = self.recipient_takes(email, *purpose).into_iter();
            takes.map(|take| (take, Some(*purpose))).collect::<Vec<_>>()
        };
        (Purpose::ALL.iter().flat_map(takes).collect(), self.limits.code_budget())
    }

    /// Returns a request for one token from the token bucket that limits the codes and links tried from one
    /// client address; empty if rate limits are switched off.
    pub(crate) fn attempt_takes(&self, client: &Client) -> Vec<Take> {
        let rate = self.limits.verification_address;
        self.kernel.limits.by_address("code and link verification, per address", rate, client)
    }
}
