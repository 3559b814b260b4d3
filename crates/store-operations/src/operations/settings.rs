//! Settings, and the version that other instances poll.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::time::Timestamp;
use latchkey_store::{SettingChange, StoreResult, StoredSettings};

use crate::form::{Decided, Executor, Script};
use crate::tables::{audit_events, settings};

/// Loads all settings and their version.
pub(crate) async fn load<E: Executor>(engine: &E) -> StoreResult<StoredSettings> {
    let (script, all) = Script::of_read(&settings::LIST, Vec::new());
    engine.read(script, move |results| settings::settings(results, all)).await
}

/// Saves changes; the last change of a duplicate key wins. It takes two round trips so that a timed-out change
/// cannot commit after a later one was acknowledged: it either holds the lock until its transaction ends, or
/// never got it.
pub(crate) async fn save<E: Executor>(
    engine: &E,
    changes: &[SettingChange],
    event: AuditEvent,
    now: Timestamp,
) -> StoreResult<()> {
    let changes = changes.to_vec();
    let mut reads = Script::default();
    settings::lock_version(&mut reads);
    engine
        .transact(reads, move |_| {
            let mut writes = Script::default();
            settings::grow_version(&mut writes);
            for change in &changes {
                settings::save(&mut writes, change, now);
            }
            audit_events::record(&mut writes, event.clone())?;
            writes.announce();
            Ok(Decided::done(writes, ()))
        })
        .await
}

pub(crate) async fn version<E: Executor>(engine: &E) -> StoreResult<i64> {
    let (script, version) = Script::of_read(&settings::FIND_VERSION, Vec::new());
    engine.read(script, move |results| settings::version(results, version)).await
}
