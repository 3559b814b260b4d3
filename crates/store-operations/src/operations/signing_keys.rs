//! Signing keys.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::KeyId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{NewSigningKey, StoreResult, StoredSigningKey};

use crate::form::{Decided, Executor, Script, values};
use crate::tables::{audit_events, settings, signing_keys};

/// Lists the keys in use, the current one first.
pub(crate) async fn list<E: Executor>(engine: &E, now: Timestamp) -> StoreResult<Vec<StoredSigningKey>> {
    let (script, all) = Script::of_read(&signing_keys::LIST, values![now]);
    engine.read(script, move |results| results.list(all, signing_keys::read_key)).await
}

/// Finds the current signing key; inserts this one if there is none.
pub(crate) async fn ensure<E: Executor>(engine: &E, key: NewSigningKey) -> StoreResult<StoredSigningKey> {
    let mut script = Script::default();
    settings::lock_version(&mut script);
    let signing = signing_keys::find_signing(&mut script);
    engine
        .transact(script, move |results| {
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

/// Replaces the current signing key, unless another key replaced it already.
pub(crate) async fn rotate<E: Executor>(
    engine: &E,
    key: NewSigningKey,
    replaces: KeyId,
    verify_until: Timestamp,
    event: AuditEvent,
) -> StoreResult<bool> {
    let mut script = Script::default();
    settings::lock_version(&mut script);
    let signing = signing_keys::find_signing(&mut script);
    engine
        .transact(script, move |results| {
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

fn create(writes: &mut Script, key: &NewSigningKey) {
    signing_keys::insert(writes, key);
    settings::grow_version(writes);
}
