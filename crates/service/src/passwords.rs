//! Passwords: limits, lifetimes and the policy check. The use cases (sign-in, change, reset) and hashing are in the
//! modules below.

use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::client::Client;
use latchkey_domain::email::{Email, EmailKey};
use latchkey_domain::guess_limits;
use latchkey_domain::limits::{FailurePolicy, LimitKey, Rate, Take};
use latchkey_domain::password::Password;
use latchkey_settings::settings;
use latchkey_store::SignInGuard;

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::mailbox::Mailbox;
use crate::sessions::Sessions;
use crate::settings::SettingsInForce;

pub mod change;
mod classes;
mod compare;
mod hash_keys;
pub mod hashing;
mod reauthenticate;
pub mod reset;
mod set;
pub mod sign_in;

pub(crate) use classes::WorkClasses;
pub(crate) use hash_keys::HashKeys;
pub use hashing::HashingConfig;
pub(crate) use hashing::PasswordHasher;

settings! {
    /// The rate limits of password checks.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Limits {
        /// Maximum number of failed sign-ins to one account from one client address without a delay. Then a delay
        /// begins with sign_in_first_delay and doubles with each further failure up to sign_in_longest_delay.
        "limits.sign_in_per_account_and_address" => sign_in_pair: Rate = "10/15m";
        "limits.sign_in_first_delay" => sign_in_first_delay: Duration = "30s";
        "limits.sign_in_longest_delay" => sign_in_longest_delay: Duration = "15m";
        /// Maximum number of failed sign-ins to one account from all client addresses. Above it, only addresses from
        /// which the account signed in during the last sign_in_known_address_age may try.
        "limits.sign_in_per_account" => sign_in_account: Rate = "100/1h";
        /// The limit on sign-in attempts from one client address.
        "limits.sign_in_per_address" => sign_in_address: Rate = "30/5m";
    }
}

impl Limits {
    /// Returns the policy for failed sign-ins: `free` failures without delay, then growing delays.
    const fn failures(&self, free: Rate) -> FailurePolicy {
        FailurePolicy {
            threshold: free.burst,
            window: free.window,
            first_delay: self.sign_in_first_delay,
            longest_delay: self.sign_in_longest_delay,
        }
    }
}

settings! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Lifetimes {
        /// The lifetime of the reset token that a reset code is exchanged for.
        "auth.reset_token_ttl" => exchanged_reset: Duration = "15m";
    }
}

pub struct Passwords {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) hasher: PasswordHasher,
    pub(crate) classes: WorkClasses,
    pub(crate) hash_keys: HashKeys,
    pub(crate) limits: Limits,
    pub(crate) lifetimes: Lifetimes,
}

impl Passwords {
    /// Returns the number of passwords that wait for a hashing thread of this instance, and the most that may wait.
    #[must_use]
    pub fn hash_queue(&self) -> (usize, usize) {
        self.hasher.queue()
    }

    /// Checks a new password against the password policy. `field` is the name of the request field, for the
    /// error.
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

    /// Returns the limits on failed sign-ins to an account, from this client and from all; `None` if rate limits are
    /// switched off.
    pub(crate) fn guard(&self, email: &EmailKey, client: &Client) -> Option<SignInGuard> {
        let known_for = self.sessions.known_client_age()?;
        let network = client.address.network_text();
        let (account, account_policy) = self.account_limit(email);
        Some(SignInGuard {
            pair: LimitKey::new("sign-in pair", &[email.as_str(), &network]),
            pair_policy: self.limits.failures(self.limits.sign_in_pair),
            account,
            account_policy,
            known_client: guess_limits::known_client(email, client.address),
            known_for,
        })
    }

    /// Returns the key and the policy of an account's counter of failed sign-ins from all clients.
    pub(crate) fn account_limit(&self, email: &EmailKey) -> (LimitKey, FailurePolicy) {
        let key = LimitKey::new("sign-in account", &[email.as_str()]);
        (key, self.limits.failures(self.limits.sign_in_account))
    }
}
