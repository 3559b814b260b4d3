//! Access tokens (JWT) and the keys that sign them.

use std::sync::Arc;

use arc_swap::ArcSwap;
use latchkey_domain::time::Timestamp;
use latchkey_store::{NewSigningKey, StoredSigningKey};

use latchkey_settings::words;

use crate::entropy::Entropy;
use crate::error::Result;
use crate::secrets::{CannotDerive, KeyUse, SealingKey, ServerSecret};

pub mod access_tokens;
pub mod claims;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod fixtures;
pub mod signing_keys;
mod verified_tokens;

use access_tokens::TokenNames;
use signing_keys::{KeySet, new_signing_key};
pub(crate) use verified_tokens::VerifiedToken;

words! {
    /// The signature algorithm of access tokens.
    pub enum SigningAlgorithm {
        /// ECDSA on P-256 with SHA-256.
        Es256 = "ES256",
        /// Ed25519.
        EdDsa = "EdDSA",
    }
}

/// Derives the key that seals private signing keys.
pub fn sealing_key(secret: &ServerSecret) -> Result<SealingKey, CannotDerive> {
    secret.sealing_key(KeyUse::SigningKeys)
}

/// Issuer and audience of access tokens, and the current signing keys.
pub(crate) struct AccessTokens {
    pub(crate) names: TokenNames,
    pub(crate) algorithm: SigningAlgorithm,
    pub(crate) sealing: SealingKey,
    pub(crate) in_force: ArcSwap<KeySet>,
}

impl AccessTokens {
    pub(crate) fn keys(&self) -> Arc<KeySet> {
        self.in_force.load_full()
    }

    /// Decrypts stored signing keys.
    pub(crate) fn open(&self, stored: &[StoredSigningKey]) -> Result<KeySet> {
        KeySet::open(stored, &self.sealing)
    }

    pub(crate) fn replace(&self, keys: KeySet) {
        self.in_force.store(Arc::new(keys));
    }

    pub(crate) fn new_key(&self, entropy: &dyn Entropy, now: Timestamp) -> Result<NewSigningKey> {
        new_signing_key(self.algorithm, &self.sealing, entropy, now)
    }
}
