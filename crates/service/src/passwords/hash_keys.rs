//! Signer keys of Firebase projects, which their hashes name by id. They are stored sealed.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use aws_lc_rs::hmac;
use latchkey_domain::ids::HashKeyId;
use latchkey_domain::time::Timestamp;
use latchkey_store::HashKey;
use zeroize::Zeroizing;

use super::Passwords;
use crate::error::{Error, Result};
use crate::secrets::{CannotDerive, KeyUse, SealingKey, ServerSecret};

/// Keys in use, and the keys that seal and name them.
pub(crate) struct HashKeys {
    sealing: SealingKey,
    naming: hmac::Key,
    /// A stored key never changes, so one that was read once is kept.
    opened: RwLock<HashMap<HashKeyId, Zeroizing<Vec<u8>>>>,
}

impl HashKeys {
    pub(crate) fn new(secret: &ServerSecret) -> std::result::Result<Self, CannotDerive> {
        let (sealing, naming) = (secret.sealing_key(KeyUse::HashKeys)?, secret.hmac_key(KeyUse::HashKeyIds)?);
        Ok(Self { sealing, naming, opened: RwLock::default() })
    }

    /// Returns the id of a key: always the same for a key, so that it is stored once however often it is imported.
    fn id_of(&self, key: &[u8]) -> HashKeyId {
        let mac = hmac::sign(&self.naming, key);
        let mut random = [0; 10];
        random.copy_from_slice(&mac.as_ref()[..10]);
        HashKeyId::new(Timestamp::from_millis(0), random)
    }
}

impl Passwords {
    /// Stores a signer key, sealed, and returns the id by which hashes name it.
    pub async fn save_hash_key(&self, key: &[u8]) -> Result<HashKeyId> {
        let id = self.hash_keys.id_of(key);
        self.seal_hash_key(id, key).await?;
        Ok(id)
    }

    /// Stores a signer key of an export, sealed, and returns the id by which hashes name it: the id that it had, unless
    /// another key has that here.
    pub async fn restore_hash_key(&self, id: HashKeyId, key: &[u8]) -> Result<HashKeyId> {
        self.seal_hash_key(id, key).await?;
        match self.hash_key(id).await? {
            Some(stored) if stored.as_slice() == key => Ok(id),
            _ => self.save_hash_key(key).await,
        }
    }

    async fn seal_hash_key(&self, id: HashKeyId, key: &[u8]) -> Result<()> {
        let kernel = &self.kernel;
        let sealed = self.hash_keys.sealing.seal(&*kernel.entropy, id.as_uuid().as_bytes(), key);
        let sealed = sealed.map_err(|_| Error::internal("a signer key could not be sealed"))?;
        Ok(kernel.store.save_hash_key(HashKey { id, sealed }, kernel.now()).await?)
    }

    /// Returns the signer key of an id; `None` if there is none or if it cannot be opened.
    pub(crate) async fn hash_key(&self, id: HashKeyId) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let keys = &self.hash_keys;
        if let Some(key) = keys.opened.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return Ok(Some(key.clone()));
        }
        let Some(found) = self.kernel.store.find_hash_key(id).await? else { return Ok(None) };
        let key = self.open_hash_key(&found);
        if let Ok(key) = &key {
            keys.opened.write().unwrap_or_else(PoisonError::into_inner).insert(id, key.clone());
        }
        Ok(key.ok())
    }

    /// Decrypts a stored signer key.
    pub(crate) fn open_hash_key(&self, key: &HashKey) -> Result<Zeroizing<Vec<u8>>> {
        let opened = self.hash_keys.sealing.open(key.id.as_uuid().as_bytes(), &key.sealed);
        opened.map(Zeroizing::new).map_err(|_| {
            tracing::warn!(
                key = %key.id.as_uuid(),
                "a signer key of imported hashes cannot be opened, so their passwords do not sign in: was server.secret \
                 changed? Import the accounts again, or let them reset their passwords"
            );
            Error::internal("a signer key cannot be opened")
        })
    }
}
