//! Access tokens (JWT) and the keys that sign them.

use std::sync::Arc;

use arc_swap::ArcSwap;
use latchkey_domain::time::Timestamp;
use latchkey_store::{NewSigningKey, StoredSigningKey};

use latchkey_settings::words;

use crate::entropy::Entropy;
use crate::error::Result;
use crate::secrets::{CannotDerive, SealingKey, ServerSecret};

pub mod access_tokens;
pub mod claims;
pub mod signing_keys;
mod verified_tokens;

use access_tokens::TokenNames;
use signing_keys::{KeySet, new_signing_key};
pub(crate) use verified_tokens::VerifiedToken;

/// The algorithm that signs access tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SigningAlgorithm {
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
}

words!(SigningAlgorithm { Es256 = "ES256", EdDsa = "EdDSA" });

/// Derives the key that seals private signing keys.
pub fn sealing_key(secret: &ServerSecret) -> Result<SealingKey, CannotDerive> {
    secret.sealing_key("signing-keys")
}

/// Access tokens: their names, and the signing keys in force.
pub(crate) struct AccessTokens {
    pub(crate) names: TokenNames,
    pub(crate) algorithm: SigningAlgorithm,
    pub(crate) sealing: SealingKey,
    pub(crate) in_force: ArcSwap<KeySet>,
}

impl AccessTokens {
    /// The keys in force.
    pub(crate) fn keys(&self) -> Arc<KeySet> {
        self.in_force.load_full()
    }

    /// Opens stored keys.
    pub(crate) fn open(&self, stored: &[StoredSigningKey]) -> Result<KeySet> {
        KeySet::open(stored, &self.sealing)
    }

    /// Puts these keys in force.
    pub(crate) fn replace(&self, keys: KeySet) {
        self.in_force.store(Arc::new(keys));
    }

    /// Generates a signing key, sealed for the store.
    pub(crate) fn new_key(&self, entropy: &dyn Entropy, now: Timestamp) -> Result<NewSigningKey> {
        new_signing_key(self.algorithm, &self.sealing, entropy, now)
    }
}
