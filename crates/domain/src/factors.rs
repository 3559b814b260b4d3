//! Second factors: TOTP (RFC 6238) and recovery codes; passkeys are in [`crate::passkey`]. The types of the codes are
//! [`crate::codes::SixDigitCode`] and [`crate::long_code::LongCode`]; the guess limits are in [`crate::guess_limits`].

use std::fmt;

use serde::{Deserialize, Deserializer};

use crate::id::id;
use crate::passkey::Passkey;
use crate::reason::{self, Reason};
use crate::shape::{Shape, Shaped};
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
/// Maximum length of a factor's name in characters.
pub const LONGEST_FACTOR_NAME: usize = 64;

/// Number of a TOTP time step: 30-second steps since the Unix epoch. A factor accepts each step at most once, and no
/// step before one that it accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TotpStep(pub i64);

/// Name of a factor: 1 to 64 characters, none of them a control character.
#[derive(Clone, PartialEq, Eq)]
pub struct FactorName(String);

/// Error of [`FactorName::parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidFactorName {
    /// The name is empty.
    #[error("must not be empty")]
    Empty,
    /// The name has more than [`LONGEST_FACTOR_NAME`] characters.
    #[error("must have at most {LONGEST_FACTOR_NAME} characters")]
    Long,
    /// The name contains control characters.
    #[error("must not have control characters")]
    Control,
}

impl FactorName {
    /// Parses a name without trimming it.
    pub fn parse(text: &str) -> Result<Self, InvalidFactorName> {
        if text.is_empty() {
            return Err(InvalidFactorName::Empty);
        }
        if text.chars().count() > LONGEST_FACTOR_NAME {
            return Err(InvalidFactorName::Long);
        }
        if text.chars().any(char::is_control) {
            return Err(InvalidFactorName::Control);
        }
        Ok(Self(text.to_owned()))
    }

    /// Restores a stored name without a check.
    #[must_use]
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// Returns the default name of a TOTP factor, for an owner who gave none.
    #[must_use]
    pub fn of_totp() -> Self {
        Self("Authenticator app".to_owned())
    }

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for FactorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for FactorName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(|error| {
            let reason = match error {
                InvalidFactorName::Empty => Reason::TooShort,
                InvalidFactorName::Long => Reason::TooLong,
                InvalidFactorName::Control => Reason::InvalidCharacters,
            };
            reason::refusal(reason, error)
        })
    }
}

impl Shaped for FactorName {
    const SENT: Shape = Shape {
        min_length: Some(1),
        max_length: Some(LONGEST_FACTOR_NAME),
        pattern: Some("^[^\\u0000-\\u001f\\u007f-\\u009f]*$"),
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
    use super::*;

    #[test]
    fn a_name_has_1_to_64_characters_and_no_control_characters() {
        assert_eq!(FactorName::parse(""), Err(InvalidFactorName::Empty));
        assert_eq!(FactorName::parse(&"é".repeat(65)), Err(InvalidFactorName::Long));
        assert_eq!(FactorName::parse("a\nb"), Err(InvalidFactorName::Control));
        assert!(FactorName::parse(&"é".repeat(64)).is_ok());
    }
}
