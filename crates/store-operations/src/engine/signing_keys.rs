//! Operations on the keys that sign the service's tokens: implementation of [`SigningKeys`].

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::KeyId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{NewSigningKey, SigningKeys, StoreResult, StoredSigningKey};

use super::Engine;
use crate::form::{Decided, Executor, Script, values};
use crate::tables::{audit_events, settings, signing_keys};

#[crate::measured]
#[async_trait]
impl<E: Executor> SigningKeys for Engine<E> {
    async fn list_signing_keys(&self, now: Timestamp) -> StoreResult<Vec<StoredSigningKey>> {
        let (script, all) = Script::of_read(&signing_keys::LIST, values![now]);
        self.read(script, move |results| results.list(all, signing_keys::read_key)).await
    }

    async fn ensure_signing_key(&self, key: NewSigningKey) -> StoreResult<StoredSigningKey> {
        let mut script = Script::default();
        settings::lock_version(&mut script);
        let signing = signing_keys::find_signing(&mut script);
        self.transact(script, move |results| {
            if let Some(signing) = signing_keys::signing(results, signing)? {
                return Ok(Decided::Return(signing));
            }
            let mut writes = Script::default();
            create(&mut writes, &key);
            let NewSigningKey { id, algorithm, sealed, created_at } = key.clone();
            let made = StoredSigningKey { id, algorithm, sealed, created_at, verify_until: None };
            Ok(Decided::done(writes, made))
        })
        .await
    }

    async fn rotate_signing_key(
        &self,
        key: NewSigningKey,
        replaces: KeyId,
        verify_until: Timestamp,
        event: AuditEvent,
    ) -> StoreResult<bool> {
        let mut script = Script::default();
        settings::lock_version(&mut script);
        let signing = signing_keys::find_signing(&mut script);
        self.transact(script, move |results| {
            let signing = signing_keys::signing(results, signing)?;
            if signing.is_none_or(|signing| signing.id != replaces) {
                return Ok(Decided::Return(false));
            }
            let mut writes = Script::default();
            signing_keys::retire(&mut writes, replaces, verify_until);
            create(&mut writes, &key);
            writes.announce();
            audit_events::record(&mut writes, event.clone())?;
            Ok(Decided::done(writes, true))
        })
        .await
    }
}

fn create(writes: &mut Script, key: &NewSigningKey) {
    signing_keys::insert(writes, key);
    settings::grow_version(writes);
}
