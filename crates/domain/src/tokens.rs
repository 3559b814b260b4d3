//! Bearer tokens: link tokens and refresh tokens. Of a token only its hash is stored ([`TokenHash`]).

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::shape::{Shape, Shaped};

/// Stored form of a token: its SHA-256. It needs no salt or key stretching, because tokens have 256 random bits.
#[derive(Clone, Copy, Eq, PartialOrd, Ord)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// Computes the hash of a token's bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Restores a stored hash.
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

/// Constant-time comparison, so that response times do not reveal a hash.
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

/// Declares a secret of 256 random bits, written as 43 characters of base64url without padding.
macro_rules! secret_of_256_bits {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, zeroize::Zeroize, zeroize::ZeroizeOnDrop)]
        pub struct $name([u8; 32]);

        impl $name {
            /// Creates the secret from injected randomness.
            #[must_use]
            pub const fn new(random: [u8; 32]) -> Self {
                Self(random)
            }

            /// Parses 43 characters of base64url; `None` for any other text.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                $crate::tokens::from_base64url(text).map(Self)
            }

            /// Returns the secret as base64url, for its cookie or a response.
            #[must_use]
            pub fn expose(&self) -> String {
                $crate::tokens::to_base64url(&self.0)
            }

            /// Returns the SHA-256 of the secret, which is stored.
            #[must_use]
            pub fn hash(&self) -> $crate::tokens::TokenHash {
                $crate::tokens::TokenHash::of(&self.0)
            }
        }
    };
}
pub(crate) use secret_of_256_bits;

/// Decodes base64url without padding; `None` for another length. The buffer in between is erased.
pub(crate) fn from_base64url<const LENGTH: usize>(text: &str) -> Option<[u8; LENGTH]> {
    let mut bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let decoded = bytes.as_slice().try_into().ok();
    bytes.zeroize();
    decoded
}

pub(crate) fn to_base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Token of a mailed link, or reset token: 256 random bits as 64 characters of lower-case hex.
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

    /// Parses 64 hex digits of either case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_token = text.len() == 64 && text.bytes().all(|c| c.is_ascii_hexdigit());
        is_token.then(|| Self(text.to_ascii_lowercase()))
    }

    /// Returns the plain token, for a mail, redirect or response.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the hash to be stored.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(self.0.as_bytes())
    }
}

/// A refresh token: 64 bytes as base64url without padding. The first half, the *family*, is the same in all tokens of
/// a session and shows that the session once issued a token. The second half is new in every rotation. So reuse of
/// any replaced token is detected without storing each of them.
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
    /// Creates the first token of a session from injected randomness.
    #[must_use]
    pub fn new(family: [u8; 32], secret: [u8; 32]) -> Self {
        let mut bytes = [0; 64];
        bytes[..32].copy_from_slice(&family);
        bytes[32..].copy_from_slice(&secret);
        Self(bytes)
    }

    /// Returns the successor: the same family and a new second half.
    #[must_use]
    pub fn successor(&self, secret: [u8; 32]) -> Self {
        let mut next = Self(self.0);
        next.0[32..].copy_from_slice(&secret);
        next
    }

    /// Parses 86 characters of base64url.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        from_base64url(text).map(Self)
    }

    /// Creates a token from 64 bytes; `None` for another length.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Returns the token as base64url, for a cookie or response.
    #[must_use]
    pub fn expose(&self) -> String {
        to_base64url(&self.0)
    }

    /// Returns the 64 bytes, from which the key that seals the successor is derived.
    #[must_use]
    pub const fn expose_bytes(&self) -> &[u8; 64] {
        &self.0
    }

    /// Returns the hash of the family half, by which the session is found.
    #[must_use]
    pub fn family_hash(&self) -> TokenHash {
        TokenHash::of(&self.0[..32])
    }

    /// Returns the hash of the whole token.
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
