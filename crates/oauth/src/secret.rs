//! Texts that must not be printed: client secrets, private keys, tokens.

use zeroize::Zeroizing;

/// A secret text. Wiped from memory when dropped; has neither `Debug` nor `Display`.
#[derive(Clone)]
pub struct SecretText(Zeroizing<String>);

impl SecretText {
    /// Takes the text.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The text itself, to seal or to send it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}
