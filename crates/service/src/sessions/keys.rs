//! The secret keys of sessions: for CSRF tokens, and for sealing the successor of a refresh token.

use aws_lc_rs::hmac;
use latchkey_domain::tokens::{RefreshToken, TokenHash};
use zeroize::Zeroize;

use crate::entropy::Entropy;
use crate::secrets::{CannotDerive, CannotOpen, KeyUse, SealingKey, ServerSecret, derive};

/// The keys that sessions derive from the server secret.
pub(crate) struct SessionKeys {
    csrf: hmac::Key,
    successors: [u8; 32],
}

impl SessionKeys {
    pub(crate) fn derive(secret: &ServerSecret) -> Result<Self, CannotDerive> {
        Ok(Self { csrf: secret.hmac_key(KeyUse::Csrf)?, successors: secret.key(KeyUse::RefreshSuccessors)? })
    }

    /// Computes the CSRF token of a session: an HMAC of its refresh-token family in lower-case hex, constant for the
    /// session's lifetime.
    pub(crate) fn csrf_token(&self, family: &TokenHash) -> String {
        hex::encode(hmac::sign(&self.csrf, family.as_bytes()).as_ref())
    }

    /// Compares `token` with the CSRF token of a session, in constant time.
    pub(crate) fn is_csrf_token(&self, family: &TokenHash, token: &str) -> bool {
        hex::decode(token).is_ok_and(|tag| hmac::verify(&self.csrf, family.as_bytes(), &tag).is_ok())
    }

    /// Seals the successor of a refresh token under a key derived from the presented token, so that the database alone
    /// cannot reveal it.
    pub(crate) fn seal_successor(
        &self,
        entropy: &dyn Entropy,
        presented: &RefreshToken,
        successor: &RefreshToken,
    ) -> Result<Vec<u8>, CannotDerive> {
        self.successor_key(presented)?.seal(entropy, &[], successor.expose_bytes())
    }

    /// Decrypts the sealed successor of a refresh token. The key is derived from the presented token, as in
    /// [`Self::seal_successor`].
    pub(crate) fn open_successor(
        &self,
        presented: &RefreshToken,
        sealed: &[u8],
    ) -> Result<RefreshToken, CannotOpen> {
        let mut plain = self.successor_key(presented).map_err(|_| CannotOpen)?.open(&[], sealed)?;
        let token = RefreshToken::from_bytes(&plain).ok_or(CannotOpen);
        plain.zeroize();
        token
    }

    fn successor_key(&self, presented: &RefreshToken) -> Result<SealingKey, CannotDerive> {
        SealingKey::new(&derive(&self.successors, presented.expose_bytes(), "successor")?)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::entropy::SystemEntropy;

    fn keys() -> SessionKeys {
        SessionKeys::derive(&ServerSecret::new(vec![1; 32]).unwrap()).unwrap()
    }

    #[test]
    fn only_the_presented_token_opens_its_successor() {
        let first = RefreshToken::new([1; 32], [2; 32]);
        let second = first.successor([3; 32]);
        let sealed = keys().seal_successor(&SystemEntropy, &first, &second).unwrap();
        assert_eq!(keys().open_successor(&first, &sealed).unwrap().hash(), second.hash());
        assert!(keys().open_successor(&second, &sealed).is_err());
    }

    #[test]
    fn csrf_tokens_are_of_one_session() {
        let (a, b) = (TokenHash::of(b"a"), TokenHash::of(b"b"));
        let token = keys().csrf_token(&a);
        assert!(keys().is_csrf_token(&a, &token));
        assert!(!keys().is_csrf_token(&b, &token));
        assert!(!keys().is_csrf_token(&a, ""));
        assert!(!keys().is_csrf_token(&a, "zz"));
    }
}
