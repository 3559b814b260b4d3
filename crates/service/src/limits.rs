//! The rate limits of policy by name: which buckets an operation takes from, and whom they count.
//! What instances must share is counted in the store; the coarse limits of reads and refreshes are kept here.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use latchkey_domain::client::{Client, ClientAddress};
use latchkey_domain::codes::Purpose;
use latchkey_domain::email::EmailKey;
use latchkey_domain::guess_limits;
use latchkey_domain::limits::{LimitKey, Limited, Rate, Take};
use latchkey_domain::time::Timestamp;
use latchkey_store::SignInGuard;

use crate::config::LimitsConfig;
use crate::error::Result;

/// After so many buckets, or twice as many as the last sweep left, full ones are forgotten: a sweep looks at all of them,
/// and must not be the price of every request when many are not full.
const SWEEP_AT: usize = 10_000;

/// The rate limits of policy.
pub struct Limits {
    config: LimitsConfig,
    local: Mutex<Buckets>,
}

/// The limits whose buckets are kept here, each per address.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Coarse {
    Refresh,
    OAuth,
    UnknownState,
    PublicRead,
    CsrfToken,
}

/// The buckets of this instance, by limit and network. They never leave the process, so no hash stands for the address
/// as in a store: these are taken from at every read.
#[derive(Default)]
struct Buckets {
    full_at: HashMap<(Coarse, IpAddr), Timestamp>,
    left_by_sweep: usize,
}

impl Limits {
    /// Limits by configuration.
    #[must_use]
    pub fn new(config: LimitsConfig) -> Self {
        Self { config, local: Mutex::default() }
    }

    /// Guess limits of a password check, unless limits are off.
    #[must_use]
    pub fn sign_in_guard(&self, email: &EmailKey, client: &Client) -> Option<SignInGuard> {
        let network = client.address.network_text();
        self.config.enabled.then(|| SignInGuard {
            pair: LimitKey::new("sign-in pair", &[email.as_str(), &network]),
            pair_policy: self.config.sign_in_pair,
            account: LimitKey::new("sign-in account", &[email.as_str()]),
            account_policy: self.config.sign_in_account,
            known_client: guess_limits::known_client(email, client.address),
            known_for: self.config.known_client,
        })
    }

    /// How long a client stays known to an account that it signed in to; `None` where limits are off.
    #[must_use]
    pub fn known_client_age(&self) -> Option<Duration> {
        self.config.enabled.then_some(self.config.known_client)
    }

    /// A password sign-in.
    #[must_use]
    pub fn sign_in(&self, client: &Client) -> Vec<Take> {
        self.by_address("password sign-in, per address", self.config.sign_in_address, client)
    }

    /// A sign-up that opens a session.
    #[must_use]
    pub fn sign_up(&self, client: &Client) -> Vec<Take> {
        self.by_address("sign-up, per address", self.config.sign_up_address, client)
    }

    /// A sign-up that sends a mail.
    #[must_use]
    pub fn sign_up_with_mail(&self, email: &EmailKey, client: &Client) -> Vec<Take> {
        let mut takes = self.sign_up(client);
        takes.extend(self.mail(email, Purpose::VerifyEmail, client));
        takes
    }

    /// A mail. Many mails in an hour reach one mailbox by its plus-tags, so there they are counted together.
    #[must_use]
    pub fn mail(&self, email: &EmailKey, purpose: Purpose, client: &Client) -> Vec<Take> {
        if !self.config.enabled {
            return Vec::new();
        }
        let recipient = [purpose.as_str(), email.as_str()];
        let mut takes = self.by_address("mails, per address", self.config.mail_address, client);
        takes.push(Take {
            key: LimitKey::new("mail pause", &recipient),
            rate: self.config.mail_recipient_pause,
            limit: "mails, per recipient",
        });
        takes.push(Take {
            key: LimitKey::new("mail recipient", &[purpose.as_str(), &email.without_tag()]),
            rate: self.config.mail_recipient,
            limit: "mails, per recipient",
        });
        takes
    }

    /// A code or a link that is tried.
    #[must_use]
    pub fn verification(&self, client: &Client) -> Vec<Take> {
        self.by_address("code and link verification, per address", self.config.verification_address, client)
    }

    /// A refused admin key.
    #[must_use]
    pub fn admin(&self, client: &Client) -> Vec<Take> {
        self.by_address("admin key, per address", self.config.admin_address, client)
    }

    /// Takes from this instance's bucket for refreshes.
    pub fn take_refresh(&self, client: &Client, now: Timestamp) -> Result<()> {
        self.take_here(Coarse::Refresh, client.address, now)
    }

    /// Takes from this instance's bucket for sign-ins through providers.
    pub fn take_oauth(&self, client: &Client, now: Timestamp) -> Result<()> {
        self.take_here(Coarse::OAuth, client.address, now)
    }

    /// Whether so many unknown states came back from a client that no more of its returns are looked at. Those of
    /// flows that were begun count nowhere: each took from the bucket of [`Self::take_oauth`] at its start.
    pub fn has_guessed_states(&self, client: &Client, now: Timestamp) -> bool {
        if !self.config.enabled {
            return false;
        }
        let limit = Coarse::UnknownState;
        let local = self.local.lock().unwrap_or_else(PoisonError::into_inner);
        let full_at = local.full_at.get(&(limit, client.address.network())).copied();
        self.coarse_rate(limit).take(full_at, now).is_err()
    }

    /// Counts an unknown state that came back from a client.
    pub fn note_unknown_state(&self, client: &Client, now: Timestamp) {
        // Whether it was the last one matters at the next.
        let _ = self.take_here(Coarse::UnknownState, client.address, now);
    }

    /// Takes from this instance's bucket for searches and public profiles.
    pub fn take_public_read(&self, address: ClientAddress, now: Timestamp) -> Result<()> {
        self.take_here(Coarse::PublicRead, address, now)
    }

    /// Takes from this instance's bucket for CSRF tokens.
    pub fn take_csrf_token(&self, address: ClientAddress, now: Timestamp) -> Result<()> {
        self.take_here(Coarse::CsrfToken, address, now)
    }

    /// Forgets buckets that are full again; answers how many.
    pub fn sweep(&self, now: Timestamp) -> usize {
        let mut local = self.local.lock().unwrap_or_else(PoisonError::into_inner);
        local.sweep(now)
    }

    fn by_address(&self, limit: &'static str, rate: Rate, client: &Client) -> Vec<Take> {
        if !self.config.enabled {
            return Vec::new();
        }
        vec![Take { key: LimitKey::new(limit, &[&client.address.network_text()]), rate, limit }]
    }

    const fn coarse_rate(&self, limit: Coarse) -> Rate {
        match limit {
            Coarse::Refresh => self.config.refresh_address,
            Coarse::OAuth | Coarse::UnknownState => self.config.oauth_address,
            Coarse::PublicRead => self.config.public_read_address,
            Coarse::CsrfToken => self.config.csrf_address,
        }
    }

    fn take_here(&self, limit: Coarse, address: ClientAddress, now: Timestamp) -> Result<()> {
        if !self.config.enabled {
            return Ok(());
        }
        let mut local = self.local.lock().unwrap_or_else(PoisonError::into_inner);
        if local.full_at.len() >= SWEEP_AT.max(2 * local.left_by_sweep) {
            local.sweep(now);
        }
        let bucket = (limit, address.network());
        let full_at = local.full_at.get(&bucket).copied();
        let after = self
            .coarse_rate(limit)
            .take(full_at, now)
            .map_err(|retry_after| Limited { limit: limit.name(), retry_after })?;
        local.full_at.insert(bucket, after);
        Ok(())
    }
}

impl Coarse {
    /// Its name in a refusal.
    const fn name(self) -> &'static str {
        match self {
            Self::Refresh => "refresh, per address",
            Self::OAuth => "sign-in through providers, per address",
            Self::UnknownState => "unknown OAuth states, per address",
            Self::PublicRead => "search and public profile, per address",
            Self::CsrfToken => "CSRF token of the cookie, per address",
        }
    }
}

impl Buckets {
    fn sweep(&mut self, now: Timestamp) -> usize {
        let before = self.full_at.len();
        self.full_at.retain(|_, full_at| *full_at > now);
        self.left_by_sweep = self.full_at.len();
        before - self.left_by_sweep
    }
}
