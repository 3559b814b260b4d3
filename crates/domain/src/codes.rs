//! Six-digit codes: their form, what they are for, and the verdict on an attempt.

use std::fmt;

use serde::{Deserialize, Deserializer};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::reason::{self, Reason};
use crate::time::Timestamp;

/// What a code or a link is for. One of another purpose is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    /// Proof of an email address.
    VerifyEmail,
    /// A new password for an account.
    ResetPassword,
}

impl Purpose {
    /// The name that stores keep.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::VerifyEmail => "verify_email",
            Self::ResetPassword => "reset_password",
        }
    }

    /// Reads the name that stores keep.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        [Self::VerifyEmail, Self::ResetPassword].into_iter().find(|purpose| purpose.as_str() == text)
    }
}

/// Six decimal digits.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct SixDigitCode(String);

/// The text is not six digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be six digits")]
pub struct InvalidCodeForm;

impl SixDigitCode {
    /// Makes a code of an injected random number below one million (a larger one is reduced).
    #[must_use]
    pub fn new(random: u32) -> Self {
        Self(format!("{:06}", random % 1_000_000))
    }

    /// Reads exactly six ASCII digits.
    pub fn parse(text: &str) -> Result<Self, InvalidCodeForm> {
        let is_code = text.len() == 6 && text.bytes().all(|c| c.is_ascii_digit());
        if is_code { Ok(Self(text.to_owned())) } else { Err(InvalidCodeForm) }
    }

    /// The digits, for a mail or for the MAC.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for SixDigitCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(|error| reason::refusal(Reason::InvalidFormat, error))
    }
}

/// HMAC-SHA-256 of a code under a server key, with account and purpose: what is stored of it. (A bare hash of a
/// million possible codes would be no protection.)
#[derive(Clone, Copy, Eq)]
pub struct CodeMac([u8; 32]);

impl CodeMac {
    /// Takes a computed or stored MAC.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The MAC, for a store.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// In constant time.
impl PartialEq for CodeMac {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for CodeMac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CodeMac(…)")
    }
}

/// How often a code may be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeBudget {
    /// Attempts on one code.
    pub per_code: u32,
    /// Attempts on one account and purpose in an hour, across resends.
    pub per_hour: u32,
}

/// A live code as a store has it, before the attempt that is being judged is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredCode {
    /// The MAC of the code.
    pub mac: CodeMac,
    /// Attempts made on it so far.
    pub attempts: u32,
    /// When it stops being good.
    pub expires_at: Timestamp,
}

impl StoredCode {
    /// Whether an attempt with `mac` opens it, where `attempts_this_hour` were made on the account and purpose before.
    #[must_use]
    pub fn accepts(
        &self,
        mac: &CodeMac,
        attempts_this_hour: u32,
        budget: CodeBudget,
        now: Timestamp,
    ) -> bool {
        let in_budget = self.attempts < budget.per_code && attempts_this_hour < budget.per_hour;
        let matches = self.mac == *mac; // compared before the other facts, so that they do not show in time
        matches && in_budget && now < self.expires_at
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const BUDGET: CodeBudget = CodeBudget { per_code: 5, per_hour: 10 };

    fn stored(attempts: u32) -> StoredCode {
        StoredCode { mac: CodeMac::from_bytes([1; 32]), attempts, expires_at: Timestamp::from_millis(1000) }
    }

    #[test]
    fn code_keeps_leading_zeros() {
        assert_eq!(SixDigitCode::new(42).expose(), "000042");
        assert_eq!(SixDigitCode::new(1_000_001).expose(), "000001");
    }

    #[test]
    fn only_six_ascii_digits_are_a_code() {
        for text in ["", "12345", "1234567", "12345a", " 12345", "１２３４５６", "+12345"] {
            assert!(SixDigitCode::parse(text).is_err(), "{text:?}");
        }
        assert_eq!(SixDigitCode::parse("000123").unwrap().expose(), "000123");
    }

    #[test]
    fn the_right_code_in_time_and_budget_opens() {
        let right = CodeMac::from_bytes([1; 32]);
        let now = Timestamp::from_millis(999);
        assert!(stored(4).accepts(&right, 9, BUDGET, now));
        assert!(!stored(5).accepts(&right, 9, BUDGET, now));
        assert!(!stored(4).accepts(&right, 10, BUDGET, now));
        assert!(!stored(4).accepts(&right, 9, BUDGET, Timestamp::from_millis(1000)));
        assert!(!stored(0).accepts(&CodeMac::from_bytes([2; 32]), 0, BUDGET, now));
    }
}
