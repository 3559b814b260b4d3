//! Settings, and the version that tells other instances of a change.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::time::Timestamp;
use latchkey_store::{SettingChange, StoreResult, StoredSettings};

use crate::form::{Executor, Repeat, Script};
use crate::tables::{audit_events, settings};

/// Loads all settings and their version.
pub(crate) async fn load<E: Executor>(engine: &E) -> StoreResult<StoredSettings> {
    let (script, all) = Script::of_read(&settings::LIST, Vec::new());
    engine.read(script, move |results| settings::settings(results, all)).await
}

/// Saves changes. The last change of a key counts.
pub(crate) async fn save<E: Executor>(
    engine: &E,
    changes: &[SettingChange],
    event: AuditEvent,
    now: Timestamp,
) -> StoreResult<()> {
    let mut script = Script::default();
    settings::grow_version(&mut script); // first: it makes changes of settings take turns
    for change in changes {
        settings::save(&mut script, change, now);
    }
    audit_events::record(&mut script, event)?;
    script.announce();
    engine.write(script, Repeat::Never, |_| Ok(())).await
}

/// Reads the version.
pub(crate) async fn version<E: Executor>(engine: &E) -> StoreResult<i64> {
    let (script, version) = Script::of_read(&settings::FIND_VERSION, Vec::new());
    engine.read(script, move |results| settings::version(results, version)).await
}
