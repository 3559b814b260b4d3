//! Values that a WebAuthn response must have to be accepted: challenge, origin, relying party id.

use crate::refusal::Refusal;

/// Values that registrations and assertions must have.
#[derive(Clone, Copy)]
pub struct Expected<'a> {
    /// The challenge in the options: at least 16 random bytes.
    pub challenge: &'a [u8],
    /// Returns true for an accepted origin. Origins are compared byte by byte as browsers write them, for example
    /// `https://example.org`.
    pub accepts_origin: &'a dyn Fn(&str) -> bool,
    /// The relying party id, for example `example.org`.
    pub rp_id: &'a str,
}

/// Values that a registration must have.
#[derive(Clone, Copy)]
pub struct ExpectedRegistration<'a> {
    /// Challenge, origins and relying party id.
    pub ceremony: Expected<'a>,
    /// The kind of registration that the options requested.
    pub mode: RegistrationMode,
}

/// The kind of a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegistrationMode {
    /// The browser asks the user: UP (user present) and UV (user verified) are required.
    Prompted,
    /// `mediation: "conditional"`: the browser creates the passkey without asking the user, so neither UP nor UV is
    /// required.
    Conditional,
}

impl RegistrationMode {
    pub(crate) const fn check(self, flags: crate::Flags) -> Result<(), Refusal> {
        match self {
            Self::Prompted => flags.demand_verified_user(),
            Self::Conditional => Ok(()),
        }
    }
}
