//! Operations on sealed values: implementation of [`SealedValues`].

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_store::{
    BeginSecretRotation, Resealed, SealedColumn, SealedRow, SealedValue, SealedValues, StoreResult,
};

use super::Engine;
use crate::form::{Executor, Repeat, Script};
use crate::tables::{audit_events, kept_keys, sealed, settings};

#[async_trait]
impl<E: Executor> SealedValues for Engine<E> {
    async fn unfinished_secret_rotation(&self) -> StoreResult<Option<String>> {
        let mut reads = Script::default();
        let unfinished = kept_keys::find_unfinished(&mut reads);
        self.read(reads, move |results| {
            results.find(unfinished, |cells| Ok(cells.of("secret_rotations").text("fingerprint")?.to_owned()))
        })
        .await
    }

    async fn begin_secret_rotation(&self, begin: BeginSecretRotation) -> StoreResult<()> {
        let mut writes = Script::default();
        settings::grow_version(&mut writes);
        kept_keys::begin(&mut writes, &begin.secrets, begin.now);
        for (label, sealed) in &begin.kept {
            kept_keys::keep(&mut writes, label, sealed);
        }
        writes.announce();
        self.write(writes, Repeat::Harmless, |_| Ok(())).await
    }

    async fn list_sealed(
        &self,
        column: SealedColumn,
        after: Option<&SealedRow>,
        limit: u32,
    ) -> StoreResult<Vec<SealedValue>> {
        let mut reads = Script::default();
        let found = sealed::list(&mut reads, column, after, limit);
        self.read(reads, move |results| results.list(found, |cells| sealed::read(column, cells))).await
    }

    async fn reseal(&self, values: Vec<Resealed>) -> StoreResult<u64> {
        let mut writes = Script::default();
        let slots: Vec<_> = values.iter().map(|value| sealed::reseal(&mut writes, value)).collect();
        self.write(writes, Repeat::Harmless, move |results| {
            slots.into_iter().map(|slot| results.affected(slot)).sum()
        })
        .await
    }

    async fn finish_secret_rotation(&self, event: Option<AuditEvent>) -> StoreResult<()> {
        let mut writes = Script::default();
        settings::grow_version(&mut writes);
        kept_keys::finish(&mut writes);
        if let Some(event) = event {
            audit_events::record(&mut writes, event)?;
        }
        writes.announce();
        self.write(writes, Repeat::Never, |_| Ok(())).await
    }
}
