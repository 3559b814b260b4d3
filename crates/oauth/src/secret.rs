//! A type for secret strings: client secrets, private keys, tokens.

use serde::Deserialize;
use zeroize::Zeroizing;

/// A secret string. It is zeroised on drop and implements neither `Debug` nor `Display`.
#[derive(Clone, Deserialize)]
#[serde(from = "String")]
pub struct SecretText(Zeroizing<String>);

impl From<String> for SecretText {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl SecretText {
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// Returns the plain text, for sealing or sending.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}
