//! Bearer tokens: link tokens and refresh tokens. The plain form exists only until the mail or response;
//! stores see a [`TokenHash`].

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::shape::{Shape, Shaped};

/// SHA-256 of a token, its stored form. No salt or key stretching: tokens have 256 random bits.
#[derive(Clone, Copy, Eq, PartialOrd, Ord)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// Hashes bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Restores a hash from a store.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes, for a store.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Constant-time comparison.
impl PartialEq for TokenHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(…)")
    }
}

/// A token of a mailed link, or the reset token of an exchange: 256 random bits, 64 characters of lower-case
/// hex.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct LinkToken(String);

impl Shaped for LinkToken {
    const SENT: Shape = Shape {
        pattern: Some("^[0-9A-Fa-f]{64}$"),
        ..Shape::new(
            "The reset token: 64 hex digits, of the exchange or of the mailed link.",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        )
    };
    const SHOWN: Shape =
        Shape { pattern: Some("^[0-9a-f]{64}$"), ..Self::SENT.about("Goes into `otp` of resetPassword.") };
}

impl LinkToken {
    /// Creates a token from injected randomness.
    #[must_use]
    pub fn new(random: [u8; 32]) -> Self {
        Self(hex::encode(random))
    }

    /// Parses 64 hex digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_token = text.len() == 64 && text.bytes().all(|c| c.is_ascii_hexdigit());
        is_token.then(|| Self(text.to_ascii_lowercase()))
    }

    /// The plain token, for a mail, redirect or response.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Hash for a store.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(self.0.as_bytes())
    }
}

/// A refresh token: 64 random bytes in base64url without padding. The first half, the *family*, is constant
/// for a session and proves that a token, however old, was issued for it; the second half changes with every
/// rotation. So reuse of any earlier token is detected without a row for each.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct RefreshToken([u8; 64]);

impl Shaped for RefreshToken {
    const SENT: Shape = Shape::new(
        "The refresh token of clients other than `web`: 86 characters of base64url. Ignored for `web`, which sends the cookie.",
        "c2Vzc2lvbiBmYW1pbHkgb2YgMzIgcmFuZG9tIGJ5dGVzLi5zZWNyZXQgb2YgMzIgcmFuZG9tIGJ5dGVzLi4uLg",
    );
    const SHOWN: Shape =
        Self::SENT.about("Opaque, good for one refresh. Clients of other types than `web` alone.");
}

impl RefreshToken {
    /// Creates the first token of a session.
    #[must_use]
    pub fn new(family: [u8; 32], secret: [u8; 32]) -> Self {
        let mut bytes = [0; 64];
        bytes[..32].copy_from_slice(&family);
        bytes[32..].copy_from_slice(&secret);
        Self(bytes)
    }

    /// Creates the next token of the same session.
    #[must_use]
    pub fn successor(&self, secret: [u8; 32]) -> Self {
        let mut next = Self(self.0);
        next.0[32..].copy_from_slice(&secret);
        next
    }

    /// Parses a token.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let token = <[u8; 64]>::try_from(bytes.as_slice()).ok().map(Self);
        bytes.zeroize();
        token
    }

    /// Creates a token from its bytes; `None` if their number is wrong.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The plain token, for a cookie or response.
    #[must_use]
    pub fn expose(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// The bytes, as key material for sealing its successor.
    #[must_use]
    pub const fn expose_bytes(&self) -> &[u8; 64] {
        &self.0
    }

    /// Hash of the family, the lookup key of a session.
    #[must_use]
    pub fn family_hash(&self) -> TokenHash {
        TokenHash::of(&self.0[..32])
    }

    /// Hash of the whole token.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn link_token_is_64_hex_and_reads_back() {
        let token = LinkToken::new([7; 32]);
        assert_eq!(token.expose().len(), 64);
        assert_eq!(LinkToken::parse(token.expose()).unwrap().hash(), token.hash());
        assert!(LinkToken::parse("123456").is_none());
        assert!(LinkToken::parse(&"g".repeat(64)).is_none());
    }

    #[test]
    fn successor_keeps_the_family_and_nothing_else() {
        let first = RefreshToken::new([1; 32], [2; 32]);
        let second = first.successor([3; 32]);
        assert_eq!(first.family_hash(), second.family_hash());
        assert_ne!(first.hash(), second.hash());
        assert_eq!(RefreshToken::parse(&second.expose()).unwrap().hash(), second.hash());
    }

    #[test]
    fn foreign_text_is_no_refresh_token() {
        for text in ["", "a", "====", &"A".repeat(85), &"A".repeat(87), "ä"] {
            assert!(RefreshToken::parse(text).is_none(), "{text:?}");
        }
    }
}
