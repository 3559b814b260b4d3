//! Operations on password hashes from elsewhere: implementation of [`ImportedHashes`].

use async_trait::async_trait;
use latchkey_domain::ids::{HashKeyId, UserId};
use latchkey_domain::password::PasswordHash;
use latchkey_domain::time::Timestamp;
use latchkey_store::{HashKey, ImportedHashes, ReplaceHash, StoreResult};

use super::Engine;
use crate::form::{Executor, Repeat, Script};
use crate::tables::{credentials, hash_keys};

#[crate::measured]
#[async_trait]
impl<E: Executor> ImportedHashes for Engine<E> {
    async fn save_hash_key(&self, key: HashKey, now: Timestamp) -> StoreResult<()> {
        let mut script = Script::default();
        hash_keys::save(&mut script, &key, now);
        self.write(script, Repeat::Harmless, |_| Ok(())).await
    }

    async fn find_hash_key(&self, id: HashKeyId) -> StoreResult<Option<HashKey>> {
        let mut script = Script::default();
        let found = hash_keys::find(&mut script, id);
        self.read(script, move |results| results.find(found, hash_keys::read)).await
    }

    async fn list_bare_digests(&self, limit: u32) -> StoreResult<Vec<(UserId, PasswordHash)>> {
        let mut script = Script::default();
        let found = credentials::list_digests(&mut script, limit);
        self.read_long(script, move |results| results.list(found, credentials::read_digest)).await
    }

    async fn replace_hashes(&self, replaced: Vec<ReplaceHash>) -> StoreResult<u64> {
        let mut script = Script::default();
        let slots = credentials::replace_all(&mut script, &replaced);
        let finish = move |results: &crate::form::Results<'_>| {
            slots.iter().try_fold(0, |sum, slot| Ok(sum + results.affected(*slot)?))
        };
        self.write(script, Repeat::Harmless, finish).await
    }
}
