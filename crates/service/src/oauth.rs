//! Signing in through identity providers (RFC 6749 with PKCE, OpenID Connect). How a provider is talked to is in
//! `latchkey-oauth`; who may open which account is decided in [`latchkey_domain::identity`].
//!
//! | Verb | File |
//! |---|---|
//! | signInWithOAuth, link | [`start`] |
//! | the browser comes back from the provider | [`callback`] |
//! | the app exchanges the code | [`exchange`] |
//! | a native app brings an `id_token` | [`id_token`] |
//! | the owner lists and unlinks identities | [`identities`] |
//! | an admin configures providers | [`provider_configs`] |
//! | which providers there are now | [`providers`] |

use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::client::Client;
use latchkey_domain::identity::ProviderKey;
use latchkey_domain::limits::Rate;
use latchkey_domain::time::Timestamp;
use latchkey_settings::settings;
use latchkey_store::NewMail;

use crate::access::Access;
use crate::error::Result;
use crate::kernel::Kernel;
use crate::secrets::{CannotDerive, SealingKey, ServerSecret};
use crate::sessions::Sessions;
use crate::shared::Shared;

pub mod callback;
pub mod exchange;
pub mod id_token;
pub mod identities;
pub mod provider_configs;
mod sign_in;
pub mod start;

pub use crate::providers;
pub use latchkey_oauth::SecretText;

/// Returns with a state that no flow has, per client.
const UNKNOWN_STATES: &str = "unknown OAuth states, per address";

settings! {
    /// The rate limits of sign-ins through providers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Limits {
        /// Sign-ins through identity providers that one address begins or ends.
        "limits.oauth_per_address" => oauth_address: Rate = "300/5m";
    }
}

settings! {
    /// The lifetimes of a flow.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Lifetimes {
        /// The longest time of the browser at the provider, and of the app until it exchanges the code that
        /// came back.
        "oauth.state_ttl" => state: Duration = "10m";
        "oauth.code_ttl" => code: Duration = "60s";
    }
}

/// The use cases of identity providers.
pub struct OAuth {
    kernel: Arc<Kernel>,
    shared: Arc<Shared>,
    sessions: Arc<Sessions>,
    access: Arc<Access>,
    /// Seals the secrets of a flow, bound to the hash of its state.
    flow_key: SealingKey,
    limits: Limits,
    lifetimes: Lifetimes,
}

impl OAuth {
    pub(crate) fn new(
        kernel: Arc<Kernel>,
        shared: Arc<Shared>,
        sessions: Arc<Sessions>,
        access: Arc<Access>,
        secret: &ServerSecret,
        limits: Limits,
        lifetimes: Lifetimes,
    ) -> Result<Self, CannotDerive> {
        let flow_key = secret.sealing_key("oauth-flows")?;
        Ok(Self { kernel, shared, sessions, access, flow_key, limits, lifetimes })
    }

    /// The lifetimes of a flow.
    #[must_use]
    pub const fn lifetimes(&self) -> &Lifetimes {
        &self.lifetimes
    }

    fn take(&self, client: &Client, now: Timestamp) -> Result<()> {
        let rate = self.limits.oauth_address;
        self.kernel.limits.take_here("sign-in through providers, per address", rate, client.address, now)
    }

    /// So many unknown states came back from a client that no more of its returns are looked up. Those of flows that
    /// were begun count nowhere: each took from the bucket of [`Self::take`] at its start.
    fn has_guessed_states(&self, client: &Client, now: Timestamp) -> bool {
        self.kernel.limits.is_used_up_here(UNKNOWN_STATES, self.limits.oauth_address, client.address, now)
    }

    /// Counts an unknown state that came back from a client.
    fn note_unknown_state(&self, client: &Client, now: Timestamp) {
        // Whether it was the last one matters at the next.
        let _ = self.kernel.limits.take_here(UNKNOWN_STATES, self.limits.oauth_address, client.address, now);
    }

    /// The security notification about an act on an identity of this provider; names it by its key if it is configured no
    /// more.
    fn identity_notification(
        &self,
        client: &Client,
        provider: &ProviderKey,
        now: Timestamp,
    ) -> Result<Option<NewMail>> {
        let providers = self.shared.providers.load();
        let name = providers.find(provider).map_or(provider.as_str(), |known| known.name());
        self.kernel.notification(Some(client), Some(name), now)
    }
}
