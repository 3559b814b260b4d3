//! Second factors: TOTP (RFC 6238) and recovery codes; passkeys are in [`crate::passkey`]. The types of the codes are
//! [`crate::codes::SixDigitCode`] and [`crate::long_code::LongCode`]; the guess limits are in [`crate::guess_limits`].

use crate::id::id;
use crate::passkey::Passkey;
use crate::shape::{Shape, Shaped};
use crate::text::{InvalidText, LONGEST_OWN_NAME, bounded_text, own_name};
use crate::time::Timestamp;

id! {
    /// Id of a second factor.
    FactorId, "The id of the factor."
}

/// Maximum number of TOTP factors of an account: two, so that a user can enrol a new phone before removing the old one.
pub const MAX_TOTP_FACTORS: u32 = 2;
/// Number of recovery codes in a set.
pub const RECOVERY_CODES: usize = 10;
/// Number of wrong codes after which an unconfirmed factor is deleted.
pub const CONFIRM_ATTEMPTS: u32 = 5;

/// Number of a TOTP time step: 30-second steps since the Unix epoch. A factor accepts each step at most once, and no
/// step before one that it accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TotpStep(pub i64);

bounded_text!(
    /// Name of a factor: 1 to 64 characters, none of them a control character, without blanks around it.
    FactorName, InvalidText, own_name
);

impl FactorName {
    /// Returns the default name of a TOTP factor, for an owner who gave none.
    #[must_use]
    pub fn of_totp() -> Self {
        Self("Authenticator app".to_owned())
    }
}

impl Shaped for FactorName {
    const SENT: Shape = Shape {
        min_length: Some(1),
        max_length: Some(LONGEST_OWN_NAME),
        pattern: Some(
            "^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$",
        ),
        ..Shape::new("Name of the factor, as its owner calls it.", "My phone")
    };
}

/// A confirmed TOTP factor, as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TotpFactor {
    /// Id of the factor.
    pub id: FactorId,
    /// Name of the factor.
    pub name: FactorName,
    /// Time at which the factor was enrolled.
    pub created_at: Timestamp,
    /// Time at which a code of the factor was last accepted; `None` if never.
    pub last_used_at: Option<Timestamp>,
}

/// Confirmed second factors of an account, and its passkeys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Factors {
    /// TOTP factors, oldest first.
    pub totp: Vec<TotpFactor>,
    /// Passkeys, those of another relying party id included, oldest first.
    pub passkeys: Vec<Passkey>,
    /// Number of unused recovery codes.
    pub recovery_codes_left: u32,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_name_has_1_to_64_characters_and_no_control_characters() {
        for blank in ["", " ", "\u{3000}\u{a0}"] {
            assert_eq!(FactorName::parse(blank), Err(InvalidText::Empty));
        }
        assert_eq!(FactorName::parse(&"é".repeat(65)), Err(InvalidText::Long(64)));
        assert_eq!(FactorName::parse("a\nb"), Err(InvalidText::Control));
        assert!(FactorName::parse(&"é".repeat(64)).is_ok());
        assert_eq!(FactorName::parse(" My phone ").unwrap().as_str(), "My phone");
    }
}
