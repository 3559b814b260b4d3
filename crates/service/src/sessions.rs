//! Sessions: limits and lifetimes. The use cases (authenticate, refresh, list, end, rotate signing keys) are in the
//! modules below.

use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::limits::Rate;
use latchkey_domain::passkey::RpId;
use latchkey_settings::{Kind, settings};

use crate::kernel::Kernel;
use crate::secrets::{CannotDerive, ServerSecret};
use crate::shared::Shared;

pub mod authenticate;
mod completion;
mod console;
mod counted;
mod credential;
mod fresh;
mod keys;
mod opening;
mod own_sessions;
mod pages;
pub mod refresh;
mod rotation;

pub use console::{ConsoleSession, ConsoleSignIn, ConsoleSignedIn};
pub use credential::Credential;
pub use fresh::FreshCaller;
pub(crate) use fresh::Presented;
use keys::SessionKeys;
pub use opening::{Challenge, Entrance, Opened, Opens, SignInClient, SignedIn};
pub(crate) use opening::{EntryDraft, SessionDraft};
pub use own_sessions::SignOut;
pub use pages::{KeepSignedIn, PageSession, PageSignIn, PageSignedIn, cookie_lifetime};

settings! {
    /// The rate limits of session requests.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Limits {
        /// The time for which an address counts as known to an account after a sign-in from it.
        "limits.sign_in_known_address_age" => known_client: Duration = "30d";
        /// The limit on refreshes from one client address.
        "limits.refresh_per_address" => refresh_address: Rate = "300/5m";
        /// The limit on requests for the CSRF token of the refresh cookie (GET /api/auth/csrf) from one client address.
        "limits.csrf_per_address" => csrf_address: Rate = "600/1m";
    }
}

settings! {
    /// The lifetimes of sessions, of their tokens, and of the keys that sign access tokens.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Lifetimes {
        /// The lifetime of an access token (JWT). Sign-out and bans take effect at once at this service; another
        /// service that only checks signatures accepts a token until it expires.
        "auth.access_token_ttl" => access_token: Duration = "15m";
        /// The lifetime of a session: it ends after this time without a refresh (idle), and at the latest after this
        /// time since sign-in (absolute).
        "auth.refresh_idle_ttl" => refresh_idle: Duration = "30d";
        "auth.refresh_absolute_ttl" => refresh_absolute: Duration = "90d";
        /// The lifetime of a session of the pages under /auth: it ends after this time without a request (idle), and at
        /// the latest after this time since sign-in (absolute). Without the tick at "Keep me signed in here" it ends
        /// after 12 hours.
        "pages.session_idle_ttl" => page_idle: Duration = "24h";
        "pages.session_absolute_ttl" => page_absolute: Duration = "30d";
        /// The lifetime of a session of an operator in the console: it ends after this time without a request (idle),
        /// and at the latest after this time since sign-in (absolute).
        "console.session_idle_ttl" => console_idle: Duration = "30m";
        "console.session_absolute_ttl" => console_absolute: Duration = "8h";
        /// The grace period, during which the refresh token that was just replaced still gives the same
        /// successor (two tabs, a lost response). Later it gives a new one if the first was never used, which
        /// invalidates the first. Once the successor was used, the replaced token is refused, and after the
        /// grace period it ends the whole session. "0s" switches the grace period off.
        "auth.refresh_grace" => refresh_grace: Duration [Kind::DurationOrZero] = "30s";
        /// The age of the signing key at which a new one replaces it. The replaced key stays in the key set until its
        /// last token has expired. "0s" leaves rotation to `latchkey keys rotate`.
        "auth.key_rotation_interval" => signing_key: Option<Duration> = "90d";
        /// The lifetime of a challenge, which asks for a second factor at sign-in.
        "auth.challenge_ttl" => challenge: Duration = "10m";
        /// The number of wrong answers after which a challenge ends.
        "auth.challenge_attempts" => challenge_attempts: u32 [1..=20] = 5;
        /// The maximum time since the sign-in or step-up of an access token that changes factors or links an identity.
        /// At least 30 s.
        "auth.reauthentication_window" => reauthentication: Duration = "10m";
    }
}

pub struct Sessions {
    kernel: Arc<Kernel>,
    shared: Arc<Shared>,
    keys: SessionKeys,
    limits: Limits,
    lifetimes: Lifetimes,
    /// Relying party id of the service, for which passkeys must be registered to be usable; `None` if the service has
    /// no domain.
    rp_id: Option<RpId>,
}

impl Sessions {
    pub(crate) fn new(
        kernel: Arc<Kernel>,
        shared: Arc<Shared>,
        secret: &ServerSecret,
        limits: Limits,
        lifetimes: Lifetimes,
        rp_id: Option<RpId>,
    ) -> Result<Self, CannotDerive> {
        Ok(Self { kernel, shared, keys: SessionKeys::derive(secret)?, limits, lifetimes, rp_id })
    }
}
