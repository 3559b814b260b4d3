//! The server secret, derivation of keys from it (HKDF-SHA-256, RFC 5869), and encryption (AES-256-GCM,
//! called sealing). [`KeyUse`] lists the uses of keys with their labels.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::{hkdf, hmac};
use latchkey_domain::codes::CodeMac;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::entropy::Entropy;

mod key_use;

pub use key_use::{AtRotation, KeyUse};

/// Reason why the server secret is not the one of the database. The text follows the key `server.secret`, and ends with
/// the remedy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WrongSecret {
    #[error("it does not open the database; use the secret that the database was made with")]
    Other,
    /// Some values are sealed under the next secret already.
    #[error(
        "its replacement is unfinished; finish it by `latchkey secret rotate` with the same server.secret and \
         server.secret_next, then start with the new one"
    )]
    Unfinished,
}

/// Minimum length of the server secret in bytes.
pub const SHORTEST_SECRET: usize = 32;

/// The secret from which all keys of this service are derived. All instances share it.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct ServerSecret {
    bytes: Vec<u8>,
    /// Keys that were derived from an earlier secret and are in use still. Each is erased when it is dropped.
    #[zeroize(skip)]
    kept: Vec<(KeyUse, Zeroizing<[u8; 32]>)>,
}

/// A sealed value cannot be decrypted, because it was sealed with another key, is bound to other associated
/// data, or is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a sealed value cannot be opened; was server.secret changed?")]
pub struct CannotOpen;

/// The cryptography library failed to derive a key or to encrypt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key could not be derived")]
pub struct CannotDerive;

impl ServerSecret {
    /// Wraps the bytes of the secret; `None` if these are fewer than [`SHORTEST_SECRET`].
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Option<Self> {
        (bytes.len() >= SHORTEST_SECRET).then_some(Self { bytes, kept: Vec::new() })
    }

    /// Returns the 256 bits of key material of a use: derived from the secret, or kept from an earlier one.
    pub fn key(&self, key: KeyUse) -> Result<[u8; 32], CannotDerive> {
        match self.kept.iter().find(|(kept, _)| *kept == key) {
            Some((_, kept)) => Ok(**kept),
            None => derive(b"latchkey/v1", &self.bytes, key.as_str()),
        }
    }

    /// Uses a key of an earlier secret from now on. One of another length is not used.
    pub(crate) fn keep(&mut self, key: KeyUse, bytes: &[u8]) {
        if let Ok(bytes) = bytes.try_into() {
            self.kept.push((key, Zeroizing::new(bytes)));
        }
    }

    /// Returns a text that tells two secrets apart and does not reveal them.
    pub fn fingerprint(&self) -> Result<String, CannotDerive> {
        Ok(hex::encode(&self.key(KeyUse::Fingerprint)?[..16]))
    }

    pub fn hmac_key(&self, key: KeyUse) -> Result<hmac::Key, CannotDerive> {
        Ok(hmac::Key::new(hmac::HMAC_SHA256, &self.key(key)?))
    }

    pub fn sealing_key(&self, key: KeyUse) -> Result<SealingKey, CannotDerive> {
        SealingKey::new(&self.key(key)?)
    }
}

/// Computes the HMAC of a code and of what the code is bound to, such as the account. `parts` has all of
/// these in a fixed order. The database stores this MAC instead of the code.
pub(crate) fn code_mac<'a>(key: &hmac::Key, parts: impl IntoIterator<Item = &'a [u8]>) -> CodeMac {
    let mut context = hmac::Context::with_key(key);
    parts.into_iter().for_each(|part| context.update(part));
    let mut mac = [0; 32];
    mac.copy_from_slice(context.sign().as_ref());
    CodeMac::from_bytes(mac)
}

/// Derives a key by HKDF: extracts with the salt, then expands with the label.
pub(crate) fn derive(salt: &[u8], secret: &[u8], label: &str) -> Result<[u8; 32], CannotDerive> {
    let mut key = [0; 32];
    let info = [label.as_bytes()];
    let prk = hkdf::Salt::new(hkdf::HKDF_SHA256, salt).extract(secret);
    prk.expand(&info, hkdf::HKDF_SHA256).and_then(|okm| okm.fill(&mut key)).map_err(|_| CannotDerive)?;
    Ok(key)
}

/// An AES-256-GCM key. An encrypted ("sealed") value is bound to associated data, such as the id of its row.
pub struct SealingKey(LessSafeKey);

impl SealingKey {
    pub fn new(key: &[u8; 32]) -> Result<Self, CannotDerive> {
        UnboundKey::new(&AES_256_GCM, key).map(|key| Self(LessSafeKey::new(key))).map_err(|_| CannotDerive)
    }

    /// Encrypts and authenticates a value. The result is a random nonce of 96 bits, the ciphertext and the tag.
    pub fn seal(
        &self,
        entropy: &dyn Entropy,
        bound_to: &[u8],
        plain: &[u8],
    ) -> Result<Vec<u8>, CannotDerive> {
        let nonce = entropy.bytes::<NONCE_LEN>();
        let mut body = plain.to_vec();
        self.0
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(bound_to), &mut body)
            .map_err(|_| CannotDerive)?;
        let mut sealed = nonce.to_vec();
        sealed.append(&mut body);
        Ok(sealed)
    }

    /// Decrypts a value that was sealed with the same key and the same associated data.
    pub fn open(&self, bound_to: &[u8], sealed: &[u8]) -> Result<Vec<u8>, CannotOpen> {
        let (nonce, body) = sealed.split_at_checked(NONCE_LEN).ok_or(CannotOpen)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| CannotOpen)?;
        let mut body = body.to_vec();
        let plain =
            self.0.open_in_place(nonce, Aad::from(bound_to), &mut body).map_err(|_| CannotOpen)?.len();
        body.truncate(plain);
        Ok(body)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::entropy::SystemEntropy;

    fn key(byte: u8, key: KeyUse) -> SealingKey {
        ServerSecret::new(vec![byte; 32]).unwrap().sealing_key(key).unwrap()
    }

    #[test]
    fn a_short_secret_is_none() {
        assert!(ServerSecret::new(vec![1; 31]).is_none());
    }

    #[test]
    fn what_is_sealed_opens_only_in_its_place_and_under_its_secret() {
        let sealed = key(1, KeyUse::Mails).seal(&SystemEntropy, b"a", b"123456").unwrap();
        assert_eq!(key(1, KeyUse::Mails).open(b"a", &sealed).unwrap(), b"123456");
        assert_eq!(key(1, KeyUse::Mails).open(b"b", &sealed), Err(CannotOpen));
        assert_eq!(key(2, KeyUse::Mails).open(b"a", &sealed), Err(CannotOpen));
        assert_eq!(key(1, KeyUse::SigningKeys).open(b"a", &sealed), Err(CannotOpen));
        assert_eq!(key(1, KeyUse::Mails).open(b"a", b"short"), Err(CannotOpen));
    }
}
