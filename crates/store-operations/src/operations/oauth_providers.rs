//! Identity providers configured by an admin.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::identity::{ProviderKey, ProviderKind};
use latchkey_domain::time::Timestamp;
use latchkey_store::{FoundProvider, StoreResult, StoredProvider};

use crate::form::{Decided, Executor, Script, Sql, Value, object_text, values};
use crate::tables::oauth_providers::{CREATE, DELETE, LIST, UPDATE, read_provider};
use crate::tables::{audit_events, settings};

pub(crate) async fn list<E: Executor>(engine: &E) -> StoreResult<Vec<FoundProvider>> {
    let (script, all) = Script::of_read(&LIST, Vec::new());
    engine.read(script, move |results| results.list(all, read_provider)).await
}

/// Creates a provider unless its key is taken.
pub(crate) async fn create<E: Executor>(
    engine: &E,
    provider: StoredProvider,
    event: AuditEvent,
) -> StoreResult<bool> {
    let StoredProvider { key, kind, config, sealed, created_at, updated_at } = provider;
    let config = object_text(&config)?;
    let values = values![key.as_str(), kind.as_str(), config, sealed, created_at, updated_at];
    change(engine, &CREATE, values, event).await
}

/// Replaces a provider unless it changed concurrently (optimistic locking).
pub(crate) async fn update<E: Executor>(
    engine: &E,
    provider: StoredProvider,
    replaces: Timestamp,
    event: AuditEvent,
) -> StoreResult<bool> {
    let StoredProvider { key, kind, config, sealed, updated_at, .. } = provider;
    let config = object_text(&config)?;
    let values = values![key.as_str(), kind.as_str(), config, sealed, updated_at, replaces];
    change(engine, &UPDATE, values, event).await
}

pub(crate) async fn delete<E: Executor>(
    engine: &E,
    key: &ProviderKey,
    kind: ProviderKind,
    event: AuditEvent,
) -> StoreResult<bool> {
    change(engine, &DELETE, values![key.as_str(), kind.as_str()], event).await
}

/// Applies a change, and notifies other instances if a row changed.
async fn change<E: Executor>(
    engine: &E,
    sql: &'static Sql,
    values: Vec<Value>,
    event: AuditEvent,
) -> StoreResult<bool> {
    let mut script = Script::default();
    settings::lock_version(&mut script); // first: it makes changes take turns
    let changed = script.change(sql, values);
    engine
        .transact(script, move |results| {
            if results.affected(changed)? == 0 {
                return Ok(Decided::Return(false));
            }
            let mut writes = Script::default();
            settings::grow_version(&mut writes);
            audit_events::record(&mut writes, event.clone())?;
            writes.announce();
            Ok(Decided::done(writes, true))
        })
        .await
}
