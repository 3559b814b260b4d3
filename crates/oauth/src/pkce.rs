//! PKCE (RFC 7636) with the method S256, between this service and the provider.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A code verifier: 32 random bytes in base64url without padding, 43 characters. It implements neither `Debug` nor
/// `Display`.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct PkceVerifier(String);

impl PkceVerifier {
    /// Creates a verifier from injected randomness.
    #[must_use]
    pub fn new(random: [u8; 32]) -> Self {
        Self(URL_SAFE_NO_PAD.encode(random))
    }

    /// Parses a stored verifier: 43 to 128 unreserved characters.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_unreserved = |c: u8| c.is_ascii_alphanumeric() || b"-._~".contains(&c);
        let is_verifier = (43..=128).contains(&text.len()) && text.bytes().all(is_unreserved);
        is_verifier.then(|| Self(text.to_owned()))
    }

    /// Returns the verifier, for sealing or for the token endpoint.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Computes the `code_challenge`: SHA-256 of the verifier in base64url without padding.
    #[must_use]
    pub fn challenge(&self) -> String {
        URL_SAFE_NO_PAD.encode(digest(&SHA256, self.0.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_that_of_appendix_b() {
        let verifier = PkceVerifier::parse("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk").unwrap();
        assert_eq!(verifier.challenge(), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn a_verifier_reads_back_and_other_texts_do_not() {
        let verifier = PkceVerifier::new([7; 32]);
        assert_eq!(verifier.expose().len(), 43);
        assert!(PkceVerifier::parse(verifier.expose()).is_some());
        for bad in ["", "short", &"a".repeat(42), &"a".repeat(129), &format!("{}=", "a".repeat(43))] {
            assert!(PkceVerifier::parse(bad).is_none(), "{bad}");
        }
    }
}
