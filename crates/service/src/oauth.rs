//! Sign-in through identity providers (RFC 6749 with PKCE, OpenID Connect). The protocol with the provider is in the
//! crate `latchkey-oauth`. The rules by which an identity signs in to an account are in [`latchkey_domain::identity`].
//!
//! | Use case | File |
//! |---|---|
//! | start of a sign-in or of linking | [`start`] |
//! | callback from the provider | [`callback`] |
//! | exchange of the code by the app | [`exchange`] |
//! | sign-in of a native app with an `id_token` | [`id_token`] |
//! | list and unlinking of own identities | [`identities`] |
//! | configuration of providers by an admin | [`provider_configs`] |
//! | providers in force | [`providers`] |

use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::client::Client;
use latchkey_domain::limits::Rate;
use latchkey_domain::time::Timestamp;
use latchkey_settings::settings;

use crate::access::Access;
use crate::error::Result;
use crate::kernel::Kernel;
use crate::secrets::{CannotDerive, KeyUse, SealingKey, ServerSecret};
use crate::sessions::Sessions;
use crate::shared::Shared;

pub mod callback;
pub mod exchange;
pub mod id_token;
pub mod identities;
pub mod provider_configs;
pub use latchkey_store::LinkedIdentity;

mod page_code;
mod sign_in;
pub mod start;

pub use crate::providers;
pub use latchkey_oauth::SecretText;

/// Name of the rate limit of callbacks with an unknown `state`, per client address.
const UNKNOWN_STATES: &str = "unknown OAuth states, per address";

settings! {
    /// The rate limits of sign-ins through identity providers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Limits {
        /// The limit on sign-ins through identity providers that one client address starts or completes.
        "limits.oauth_per_address" => oauth_address: Rate = "300/5m";
    }
}

settings! {
    /// The lifetimes of a sign-in through an identity provider.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Lifetimes {
        /// The longest time from the redirect to the provider until the callback, and from the callback until the app
        /// exchanges the code.
        "oauth.state_ttl" => state: Duration = "10m";
        "oauth.code_ttl" => code: Duration = "60s";
    }
}

pub struct OAuth {
    kernel: Arc<Kernel>,
    shared: Arc<Shared>,
    sessions: Arc<Sessions>,
    access: Arc<Access>,
    /// The key that seals the nonce and the PKCE verifier of a sign-in in the database.
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
        let flow_key = secret.sealing_key(KeyUse::OAuthFlows)?;
        Ok(Self { kernel, shared, sessions, access, flow_key, limits, lifetimes })
    }

    #[must_use]
    pub const fn lifetimes(&self) -> &Lifetimes {
        &self.lifetimes
    }

    fn take(&self, client: &Client, now: Timestamp) -> Result<()> {
        let rate = self.limits.oauth_address;
        self.kernel.limits.take_here("sign-in through providers, per address", rate, client.address, now)
    }

    /// Returns `true` if a client may make no further callbacks, because too many of its callbacks had an unknown
    /// `state`. They are then refused without a database read. Callbacks of started sign-ins are not counted, because
    /// each start was counted already ([`Self::take`]).
    fn has_guessed_states(&self, client: &Client, now: Timestamp) -> bool {
        self.kernel.limits.is_used_up_here(UNKNOWN_STATES, self.limits.oauth_address, client.address, now)
    }

    /// Counts a callback with an unknown `state` against the limit of its client.
    fn note_unknown_state(&self, client: &Client, now: Timestamp) {
        // If the limit is exceeded now, the client's next callback is refused.
        let _ = self.kernel.limits.take_here(UNKNOWN_STATES, self.limits.oauth_address, client.address, now);
    }
}
