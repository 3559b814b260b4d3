//! Passkeys: registration, sign-in, and the passkeys of an account. Rate limits and shared helpers are here,
//! the use cases in the modules below.

use std::sync::Arc;

use latchkey_domain::limits::Rate;
use latchkey_domain::passkey::RpId;
use latchkey_settings::settings;
pub use latchkey_webauthn::RegistrationMode;

use crate::error::{Error, Result};
use crate::factors::Factors;
use crate::kernel::Kernel;
use crate::passwords::Passwords;
use crate::refusal::FEATURE_DISABLED;
use crate::secrets::{CannotDerive, ServerSecret};
use crate::sessions::Sessions;

mod ceremony;
mod names;
mod own;
mod registration;
mod relying_party;
mod response;
mod sign_in;

use ceremony::CeremonyKey;
pub use own::OwnPasskeys;
pub use registration::{BegunRegistration, CreationOptions, Registered};
pub use relying_party::{RelyingParty, has_webauthn, is_at_or_below};
pub use response::{Assertion, Registration};
pub use sign_in::{BegunSignIn, RequestOptions};

settings! {
    /// The rate limits of passkeys.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Limits {
        /// The limit on requests for the options of a sign-in by passkey from one client address. Every load of a
        /// sign-in page may ask for them. Successful sign-ins are not limited; failed ones count against
        /// limits.verification_per_address.
        "limits.passkey_options_per_address" => options_address: Rate = "300/5m";
    }
}

/// The use cases of passkeys.
pub struct Passkeys {
    kernel: Arc<Kernel>,
    sessions: Arc<Sessions>,
    passwords: Arc<Passwords>,
    factors: Arc<Factors>,
    limits: Limits,
    relying_party: RelyingParty,
    ceremonies: CeremonyKey,
}

impl Passkeys {
    pub(crate) fn new(
        kernel: Arc<Kernel>,
        sessions: Arc<Sessions>,
        passwords: Arc<Passwords>,
        factors: Arc<Factors>,
        secret: &ServerSecret,
        limits: Limits,
        relying_party: RelyingParty,
    ) -> Result<Self, CannotDerive> {
        let ceremonies = CeremonyKey::new(secret)?;
        Ok(Self { kernel, sessions, passwords, factors, limits, relying_party, ceremonies })
    }

    /// True if users can register passkeys and sign in with them: the operator permits it, and the host of
    /// the service is a domain, not an IP address.
    #[must_use]
    pub fn is_offered(&self) -> bool {
        self.kernel.settings.load().values.passkeys_enabled && self.relying_party.id.is_some()
    }

    /// Returns the related origins (WebAuthn section 5.11): those that use the passkeys of this service although their
    /// host does not belong to the relying party id.
    #[must_use]
    pub fn related_origins(&self) -> Vec<String> {
        self.relying_party.related_origins(&self.kernel.settings.load().redirects)
    }

    /// Returns the relying party id if passkeys are offered; fails with [`FEATURE_DISABLED`] otherwise.
    fn check_offered(&self) -> Result<RpId> {
        let id = self.relying_party.id.clone().filter(|_| self.is_offered());
        id.ok_or(Error::Refused(&FEATURE_DISABLED))
    }
}
