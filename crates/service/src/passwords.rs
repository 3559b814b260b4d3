//! Passwords: hashing them, and signing in with one, changing and resetting it.

use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::client::Client;
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::guess_limits;
use latchkey_domain::limits::{FailurePolicy, LimitKey, Rate, Take};
use latchkey_domain::password::Password;
use latchkey_store::SignInGuard;

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::mailbox::Mailbox;
use crate::sessions::Sessions;
use crate::settings::SettingsInForce;

pub mod change;
pub mod hashing;
pub mod reset;
pub mod sign_in;

pub use hashing::HashingConfig;
pub(crate) use hashing::PasswordHasher;

/// The limits of password checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Failures of one account from one client.
    pub sign_in_pair: FailurePolicy,
    /// Failures of one account from everywhere.
    pub sign_in_account: FailurePolicy,
    /// Password checks of one client.
    pub sign_in_address: Rate,
}

impl Default for Limits {
    fn default() -> Self {
        const fn failures(threshold: u32, seconds: u64) -> FailurePolicy {
            FailurePolicy {
                threshold,
                window: Duration::from_secs(seconds),
                first_delay: Duration::from_secs(30),
                longest_delay: Duration::from_mins(15),
            }
        }
        Self {
            sign_in_pair: failures(10, 900),
            sign_in_account: failures(100, 3600),
            sign_in_address: Rate::per(30, 300),
        }
    }
}

/// The lifetimes of password resets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// A reset token that came of an exchange.
    pub exchanged_reset: Duration,
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self { exchanged_reset: Duration::from_mins(15) }
    }
}

/// The use cases of passwords.
pub struct Passwords {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) hasher: PasswordHasher,
    pub(crate) limits: Limits,
    pub(crate) lifetimes: Lifetimes,
}

impl Passwords {
    /// Applies the policy to a new password for the account of an address. `field` is the key of the password.
    pub(crate) fn check_new_password(
        &self,
        settings: &SettingsInForce,
        field: &'static str,
        password: &Password,
        email: &Email,
    ) -> Result<()> {
        let policy = settings.values.passwords();
        let checked = policy.check(password, email.local_part(), &self.kernel.site.service_name);
        checked.map_err(|broken| Error::weak_password(field, &broken))
    }

    fn takes(&self, client: &Client) -> Vec<Take> {
        let rate = self.limits.sign_in_address;
        self.kernel.limits.by_address("password sign-in, per address", rate, client)
    }

    /// The guess limits of a password check; `None` if limits are off.
    fn guard(&self, email: &EmailKey, client: &Client) -> Option<SignInGuard> {
        let known_for = self.sessions.known_client_age()?;
        let network = client.address.network_text();
        Some(SignInGuard {
            pair: LimitKey::new("sign-in pair", &[email.as_str(), &network]),
            pair_policy: self.limits.sign_in_pair,
            account: LimitKey::new("sign-in account", &[email.as_str()]),
            account_policy: self.limits.sign_in_account,
            known_client: guess_limits::known_client(email, client.address),
            known_for,
        })
    }
}
