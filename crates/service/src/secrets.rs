//! The server secret and the keys derived from it, one per use (HKDF-SHA-256, RFC 5869), and sealing (AES-256-GCM).

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::{hkdf, hmac};
use latchkey_domain::codes::{CodeMac, EnteredCode, Purpose};
use latchkey_domain::email::EmailKey;
use latchkey_domain::tokens::{RefreshToken, TokenHash};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::entropy::Entropy;

/// Least length of a server secret in bytes.
pub const SHORTEST_SECRET: usize = 32;

/// The secret from which all keys of this service come. All instances share it.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct ServerSecret(Vec<u8>);

/// The keys in use.
pub struct Keys {
    codes: hmac::Key,
    csrf: hmac::Key,
    mails: LessSafeKey,
    signers: LessSafeKey,
    flows: LessSafeKey,
    providers: LessSafeKey,
    successors: Vec<u8>,
}

/// What was sealed cannot be opened: another secret, another place, or damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a sealed value cannot be opened; was server.secret changed?")]
pub struct CannotOpen;

/// Something went wrong inside the cryptography library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key could not be derived")]
pub struct CannotDerive;

impl ServerSecret {
    /// Takes the secret's bytes; `None` where they are too few.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Option<Self> {
        (bytes.len() >= SHORTEST_SECRET).then_some(Self(bytes))
    }

    /// Derives the keys.
    pub fn derive(&self) -> Result<Keys, CannotDerive> {
        let prk = hkdf::Salt::new(hkdf::HKDF_SHA256, b"latchkey/v1").extract(&self.0);
        let key = |purpose: &str| expand(&prk, purpose);
        Ok(Keys {
            codes: hmac::Key::new(hmac::HMAC_SHA256, &key("codes")?),
            csrf: hmac::Key::new(hmac::HMAC_SHA256, &key("csrf")?),
            mails: aes(&key("mails")?)?,
            signers: aes(&key("signing-keys")?)?,
            flows: aes(&key("oauth-flows")?)?,
            providers: aes(&key("oauth-providers")?)?,
            successors: key("refresh-successors")?.to_vec(),
        })
    }
}

fn expand(prk: &hkdf::Prk, purpose: &str) -> Result<[u8; 32], CannotDerive> {
    let mut key = [0; 32];
    let info = [purpose.as_bytes()];
    prk.expand(&info, hkdf::HKDF_SHA256).and_then(|okm| okm.fill(&mut key)).map_err(|_| CannotDerive)?;
    Ok(key)
}

fn aes(key: &[u8]) -> Result<LessSafeKey, CannotDerive> {
    UnboundKey::new(&AES_256_GCM, key).map(LessSafeKey::new).map_err(|_| CannotDerive)
}

impl Keys {
    /// What is stored of a code: bound to its account and purpose, so that it opens nothing else.
    #[must_use]
    pub fn code_mac(&self, email: &EmailKey, purpose: Purpose, code: &EnteredCode) -> CodeMac {
        let mut context = hmac::Context::with_key(&self.codes);
        for part in [purpose.as_str(), email.as_str(), code.expose()] {
            context.update(part.as_bytes());
            context.update(&[0]); // none of the parts can have a NUL
        }
        let mut mac = [0; 32];
        mac.copy_from_slice(context.sign().as_ref());
        CodeMac::from_bytes(mac)
    }

    /// The CSRF token of the session that a refresh-token family belongs to: constant for its life, lower-case hex.
    #[must_use]
    pub fn csrf_token(&self, family: &TokenHash) -> String {
        hex::encode(hmac::sign(&self.csrf, family.as_bytes()).as_ref())
    }

    /// Whether this is the CSRF token of that session, in constant time.
    #[must_use]
    pub fn is_csrf_token(&self, family: &TokenHash, token: &str) -> bool {
        hex::decode(token).is_ok_and(|tag| hmac::verify(&self.csrf, family.as_bytes(), &tag).is_ok())
    }

    /// Seals what a mail carries, bound to the mail's id.
    pub fn seal_mail(&self, entropy: &dyn Entropy, id: &str, plain: &[u8]) -> Result<Vec<u8>, CannotDerive> {
        seal(&self.mails, entropy, id.as_bytes(), plain)
    }

    /// Opens what a mail carries.
    pub fn open_mail(&self, id: &str, sealed: &[u8]) -> Result<Vec<u8>, CannotOpen> {
        open(&self.mails, id.as_bytes(), sealed)
    }

    /// Seals a private signing key, bound to its id.
    pub fn seal_signing_key(
        &self,
        entropy: &dyn Entropy,
        id: &str,
        pkcs8: &[u8],
    ) -> Result<Vec<u8>, CannotDerive> {
        seal(&self.signers, entropy, id.as_bytes(), pkcs8)
    }

    /// Opens a private signing key.
    pub fn open_signing_key(&self, id: &str, sealed: &[u8]) -> Result<Vec<u8>, CannotOpen> {
        open(&self.signers, id.as_bytes(), sealed)
    }

    /// Seals what an OAuth flow needs on its way back, bound to the hash of its state.
    pub fn seal_flow(
        &self,
        entropy: &dyn Entropy,
        state: &TokenHash,
        plain: &[u8],
    ) -> Result<Vec<u8>, CannotDerive> {
        seal(&self.flows, entropy, state.as_bytes(), plain)
    }

    /// Opens what an OAuth flow needs on its way back.
    pub fn open_flow(&self, state: &TokenHash, sealed: &[u8]) -> Result<Vec<u8>, CannotOpen> {
        open(&self.flows, state.as_bytes(), sealed)
    }

    /// Seals the secrets of an identity provider's client, bound to the provider's key.
    pub fn seal_provider(
        &self,
        entropy: &dyn Entropy,
        key: &str,
        plain: &[u8],
    ) -> Result<Vec<u8>, CannotDerive> {
        seal(&self.providers, entropy, key.as_bytes(), plain)
    }

    /// Opens the secrets of an identity provider's client.
    pub fn open_provider(&self, key: &str, sealed: &[u8]) -> Result<Vec<u8>, CannotOpen> {
        open(&self.providers, key.as_bytes(), sealed)
    }

    /// Seals a refresh token's successor under a key that only the presented token yields.
    pub fn seal_successor(
        &self,
        entropy: &dyn Entropy,
        presented: &RefreshToken,
        successor: &RefreshToken,
    ) -> Result<Vec<u8>, CannotDerive> {
        seal(&self.successor_key(presented)?, entropy, &[], successor.expose_bytes())
    }

    /// Opens a refresh token's successor with the presented token.
    pub fn open_successor(
        &self,
        presented: &RefreshToken,
        sealed: &[u8],
    ) -> Result<RefreshToken, CannotOpen> {
        let key = self.successor_key(presented).map_err(|_| CannotOpen)?;
        let mut plain = open(&key, &[], sealed)?;
        let token = RefreshToken::from_bytes(&plain).ok_or(CannotOpen);
        plain.zeroize();
        token
    }

    fn successor_key(&self, presented: &RefreshToken) -> Result<LessSafeKey, CannotDerive> {
        let prk = hkdf::Salt::new(hkdf::HKDF_SHA256, &self.successors).extract(presented.expose_bytes());
        aes(&expand(&prk, "successor")?)
    }
}

/// A random nonce of 96 bits, then the ciphertext, then the tag.
fn seal(
    key: &LessSafeKey,
    entropy: &dyn Entropy,
    bound_to: &[u8],
    plain: &[u8],
) -> Result<Vec<u8>, CannotDerive> {
    let nonce = entropy.bytes::<NONCE_LEN>();
    let mut body = plain.to_vec();
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(bound_to), &mut body)
        .map_err(|_| CannotDerive)?;
    let mut sealed = nonce.to_vec();
    sealed.append(&mut body);
    Ok(sealed)
}

fn open(key: &LessSafeKey, bound_to: &[u8], sealed: &[u8]) -> Result<Vec<u8>, CannotOpen> {
    let (nonce, body) = sealed.split_at_checked(NONCE_LEN).ok_or(CannotOpen)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| CannotOpen)?;
    let mut body = body.to_vec();
    let plain = key.open_in_place(nonce, Aad::from(bound_to), &mut body).map_err(|_| CannotOpen)?.len();
    body.truncate(plain);
    Ok(body)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::entropy::SystemEntropy;
    use latchkey_domain::codes::SixDigitCode;
    use latchkey_domain::email::Email;

    fn keys(byte: u8) -> Keys {
        ServerSecret::new(vec![byte; 32]).unwrap().derive().unwrap()
    }

    #[test]
    fn a_short_secret_is_none() {
        assert!(ServerSecret::new(vec![1; 31]).is_none());
    }

    #[test]
    fn what_is_sealed_opens_only_in_its_place_and_under_its_secret() {
        let sealed = keys(1).seal_mail(&SystemEntropy, "a", b"123456").unwrap();
        assert_eq!(keys(1).open_mail("a", &sealed).unwrap(), b"123456");
        assert_eq!(keys(1).open_mail("b", &sealed), Err(CannotOpen));
        assert_eq!(keys(2).open_mail("a", &sealed), Err(CannotOpen));
        assert_eq!(keys(1).open_signing_key("a", &sealed), Err(CannotOpen));
        assert_eq!(keys(1).open_mail("a", b"short"), Err(CannotOpen));
    }

    #[test]
    fn a_code_is_bound_to_account_and_purpose() {
        let (ada, eve) = (Email::parse("ada@example.org").unwrap(), Email::parse("eve@example.org").unwrap());
        let code = EnteredCode::SixDigits(SixDigitCode::new(1));
        let mac = keys(1).code_mac(ada.key(), Purpose::VerifyEmail, &code);
        assert_ne!(mac, keys(1).code_mac(eve.key(), Purpose::VerifyEmail, &code));
        assert_ne!(mac, keys(1).code_mac(ada.key(), Purpose::ResetPassword, &code));
        assert_ne!(mac, keys(2).code_mac(ada.key(), Purpose::VerifyEmail, &code));
    }

    #[test]
    fn only_the_presented_token_opens_its_successor() {
        let first = RefreshToken::new([1; 32], [2; 32]);
        let second = first.successor([3; 32]);
        let sealed = keys(1).seal_successor(&SystemEntropy, &first, &second).unwrap();
        assert_eq!(keys(1).open_successor(&first, &sealed).unwrap().hash(), second.hash());
        assert!(keys(1).open_successor(&second, &sealed).is_err());
    }

    #[test]
    fn csrf_tokens_are_of_one_session() {
        let (a, b) = (TokenHash::of(b"a"), TokenHash::of(b"b"));
        let token = keys(1).csrf_token(&a);
        assert!(keys(1).is_csrf_token(&a, &token));
        assert!(!keys(1).is_csrf_token(&b, &token));
        assert!(!keys(1).is_csrf_token(&a, ""));
        assert!(!keys(1).is_csrf_token(&a, "zz"));
    }
}
