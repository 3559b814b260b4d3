//! Facts that the service expects of a ceremony.

use crate::refusal::Refusal;

/// Facts that both ceremonies must match.
#[derive(Clone, Copy)]
pub struct Expected<'a> {
    /// The challenge of the options, at least 16 random bytes.
    pub challenge: &'a [u8],
    /// True for each origin at which a ceremony may run, byte for byte as browsers write it, for example
    /// `https://example.org`.
    pub accepts_origin: &'a dyn Fn(&str) -> bool,
    /// The relying party id, for example `example.org`.
    pub rp_id: &'a str,
}

/// Facts that a registration must match.
#[derive(Clone, Copy)]
pub struct ExpectedRegistration<'a> {
    /// Challenge, origins and relying party.
    pub ceremony: Expected<'a>,
    /// The kind of creation that the options asked for.
    pub mode: RegistrationMode,
}

/// The kind of a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegistrationMode {
    /// The user was prompted: UP and UV are demanded.
    Prompted,
    /// `mediation: "conditional"`: the browser creates the passkey without a prompt, so neither UP nor UV is demanded.
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
