//! Email codes: forms, purposes, limits of wrong attempts, and the decision on an attempt.

use std::fmt;

use serde::{Deserialize, Deserializer};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::code_window::LaneAttempts;
use crate::long_code::LongCode;
use crate::reason::{self, Reason};
use crate::shape::{Shape, Shaped};
use crate::time::Timestamp;
use crate::words;

words! {
    /// Purpose of an email code or link token. A code presented for another purpose is refused like an unknown code.
    pub enum Purpose {
        /// Verification of an email address.
        VerifyEmail = "verify_email",
        /// Reset of a password.
        ResetPassword = "reset_password",
        /// Reauthentication of a session whose account has no password.
        Reauthenticate = "reauthenticate",
        /// Sign-in without a password.
        SignIn = "sign_in",
        /// Change of an account's email address: proof of the new address.
        EmailChangeNew = "email_change_new",
        /// Change of an account's email address: proof of the current address.
        EmailChangeCurrent = "email_change_current",
    }
}

/// An email code of six decimal digits, leading zeros included.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct SixDigitCode(String);

/// Error of [`SixDigitCode::parse`] and [`EnteredCode::parse`]: the text does not have the form of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be six digits")]
pub struct InvalidCodeForm;

impl SixDigitCode {
    /// Creates a code from injected randomness: `random` modulo one million.
    #[must_use]
    pub fn new(random: u32) -> Self {
        Self(format!("{:06}", random % 1_000_000))
    }

    /// Parses exactly six ASCII digits, without surrounding spaces.
    pub fn parse(text: &str) -> Result<Self, InvalidCodeForm> {
        let is_code = text.len() == 6 && text.bytes().all(|c| c.is_ascii_digit());
        if is_code { Ok(Self(text.to_owned())) } else { Err(InvalidCodeForm) }
    }

    /// Returns the digits, for the mail and the MAC.
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

/// Form of an email code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeForm {
    /// Six digits. Wrong attempts are limited.
    SixDigits,
    /// Sixteen characters with 80 random bits. The number of attempts needs no limit.
    Long,
}

/// An email code as entered by a user, in either form.
#[derive(Clone, PartialEq, Eq)]
pub enum EnteredCode {
    /// A code of six digits.
    SixDigits(SixDigitCode),
    /// A code of sixteen characters.
    Long(LongCode),
}

impl Shaped for EnteredCode {
    const SENT: Shape =
        Shape::new("The code of the mail: six digits, or sixteen letters and digits in groups.", "123456");
}

impl EnteredCode {
    /// Parses six digits exactly, or sixteen characters leniently by [`LongCode::parse`].
    pub fn parse(text: &str) -> Result<Self, InvalidCodeForm> {
        match SixDigitCode::parse(text) {
            Ok(code) => Ok(Self::SixDigits(code)),
            Err(invalid) => LongCode::parse(text).map(Self::Long).ok_or(invalid),
        }
    }

    /// Returns the form of the entered code.
    #[must_use]
    pub const fn form(&self) -> CodeForm {
        match self {
            Self::SixDigits(_) => CodeForm::SixDigits,
            Self::Long(_) => CodeForm::Long,
        }
    }

    /// Returns the canonical text, the input of the MAC.
    #[must_use]
    pub fn expose(&self) -> &str {
        match self {
            Self::SixDigits(code) => code.expose(),
            Self::Long(code) => code.expose(),
        }
    }
}

/// Stored form of an email code: HMAC-SHA-256 of account, purpose and code under a server key. A plain hash of a
/// six-digit code could be reversed by trying all million codes.
#[derive(Clone, Copy, Eq)]
pub struct CodeMac([u8; 32]);

impl CodeMac {
    /// Creates the value from the 32 bytes of a computed or stored MAC.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes to be stored.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Constant-time comparison, so that response times do not reveal a code.
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

/// Limits of wrong attempts at six-digit codes, for one of the two groups of clients of an account
/// ([`LaneAttempts`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeBudget {
    /// Maximum number of wrong attempts at one code.
    pub per_code: u32,
    /// Maximum number of wrong attempts per account and purpose in an hour. A resent code does not reset the count.
    pub per_hour: u32,
    /// Maximum number of wrong attempts per account and purpose in a day. Beyond it, long codes are mailed.
    pub per_day: u32,
}

/// A live code as stored, before the current attempt is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredCode {
    /// MAC of the code.
    pub mac: CodeMac,
    /// Form of the code, six digits or sixteen characters.
    pub form: CodeForm,
    /// Number of wrong attempts at this code by the group of clients ([`LaneAttempts`]) that makes the attempt.
    pub attempts: u32,
    /// Expiry of the code, exclusive.
    pub expires_at: Timestamp,
}

impl StoredCode {
    /// True if an attempt with `mac` succeeds. `lane` has the previous wrong attempts by the group of clients that
    /// makes the attempt.
    #[must_use]
    pub fn accepts(&self, mac: &CodeMac, lane: LaneAttempts, budget: CodeBudget, now: Timestamp) -> bool {
        let matches = self.mac == *mac; // compared in any case, so that the time does not reveal the other conditions
        let may_be_tried = match self.form {
            CodeForm::SixDigits => self.attempts < budget.per_code && !lane.is_used_up(budget, now),
            CodeForm::Long => true,
        };
        matches && may_be_tried && now < self.expires_at
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::code_window::CodeWindow;

    const BUDGET: CodeBudget = CodeBudget { per_code: 5, per_hour: 10, per_day: 30 };

    fn stored(form: CodeForm, attempts: u32) -> StoredCode {
        let (mac, expires_at) = (CodeMac::from_bytes([1; 32]), Timestamp::from_millis(1000));
        StoredCode { mac, form, attempts, expires_at }
    }

    fn lane(attempts: u32) -> LaneAttempts {
        let made = CodeWindow { attempts, since: Timestamp::from_millis(0) };
        LaneAttempts { hour: made, day: made }
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
        let six = |attempts| stored(CodeForm::SixDigits, attempts);
        assert!(six(4).accepts(&right, lane(9), BUDGET, now));
        assert!(!six(5).accepts(&right, lane(9), BUDGET, now));
        assert!(!six(4).accepts(&right, lane(10), BUDGET, now));
        assert!(!six(4).accepts(&right, lane(9), BUDGET, Timestamp::from_millis(1000)));
        assert!(!six(0).accepts(&CodeMac::from_bytes([2; 32]), lane(0), BUDGET, now));
    }

    #[test]
    fn a_long_code_opens_from_a_lane_that_is_used_up() {
        let right = CodeMac::from_bytes([1; 32]);
        let now = Timestamp::from_millis(999);
        let long = stored(CodeForm::Long, 5);
        assert!(long.accepts(&right, lane(30), BUDGET, now));
        assert!(!long.accepts(&right, lane(30), BUDGET, Timestamp::from_millis(1000)));
        assert!(!long.accepts(&CodeMac::from_bytes([2; 32]), lane(0), BUDGET, now));
    }

    #[test]
    fn an_entry_is_six_digits_or_a_long_code() {
        let form = |text| EnteredCode::parse(text).map(|entered| entered.form()).ok();
        assert_eq!(form("012345"), Some(CodeForm::SixDigits));
        assert_eq!(form("0123-4567-89AB-CDEF"), Some(CodeForm::Long));
        assert_eq!(form("0123456"), None);
        assert_eq!(form(" 012345"), None);
    }
}
