//! Operations on settings changed by an admin, and on the version that other instances poll: implementation of
//! [`Settings`].

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::time::Timestamp;
use latchkey_store::{SettingChange, Settings, StoreResult, StoredSettings};

use super::Engine;
use crate::form::{Decided, Executor, Script};
use crate::tables::{audit_events, settings};

#[crate::measured]
#[async_trait]
impl<E: Executor> Settings for Engine<E> {
    async fn load_settings(&self) -> StoreResult<StoredSettings> {
        let (script, all) = Script::of_read(&settings::LIST, Vec::new());
        self.read(script, move |results| settings::settings(results, all)).await
    }

    /// Saves changes of settings. If a key occurs several times, its last change wins. The first round trip
    /// locks the version number, the second writes and commits. A change whose caller timed out therefore
    /// either holds the lock, so that later changes wait for its end, or never commits.
    async fn save_settings(
        &self,
        changes: &[SettingChange],
        event: AuditEvent,
        now: Timestamp,
    ) -> StoreResult<()> {
        let changes = changes.to_vec();
        let mut reads = Script::default();
        settings::lock_version(&mut reads);
        self.transact(reads, move |_| {
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

    async fn shared_version(&self) -> StoreResult<i64> {
        let (script, version) = Script::of_read(&settings::FIND_VERSION, Vec::new());
        self.read(script, move |results| settings::version(results, version)).await
    }
}
