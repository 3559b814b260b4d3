//! Purge of rows past their retention. Locked rows are skipped (SKIP LOCKED) and left to the next purge, so that a
//! purge never blocks. The deletes share one round trip.

use latchkey_domain::time::Timestamp;
use latchkey_store::{PURGE_BATCH, StoreResult};
use latchkey_store_operations::tables::PURGED;
use latchkey_store_operations::tables::purges::PurgedRows;

use crate::script::Script;
use crate::store::Postgres;
use crate::values::values;

const WIPE_SEALS: &str = "
    WITH stale AS MATERIALIZED (
        SELECT id FROM sessions WHERE sealed_until < $1 ORDER BY sealed_until LIMIT $2 FOR UPDATE SKIP LOCKED)
    UPDATE sessions SET sealed_successor = NULL, sealed_until = NULL WHERE id IN (SELECT id FROM stale)";

impl Postgres {
    /// Deletes up to [`PURGE_BATCH`] rows per retention rule and returns their total. Also deletes old changes of the
    /// search feed and sealed refresh tokens past their grace period, without counting them.
    pub(crate) async fn purge_all(&self, now: Timestamp) -> StoreResult<u64> {
        let mut writes = Script::default();
        let add = |rows: &PurgedRows| writes.add(statement(rows), values![rows.until(now), PURGE_BATCH]);
        let deleted: Vec<_> = PURGED.iter().map(add).collect();
        let outputs = self.write_script(&writes).await?;
        // Every purge deletes all expired ones, however many sessions refresh, because they are needed only during the
        // grace period.
        while self.execute(WIPE_SEALS, values![now, PURGE_BATCH]).await?.affected >= u64::from(PURGE_BATCH) {}
        self.purge_changes(now).await?;
        Ok(deleted.into_iter().map(|slot| outputs.affected(slot)).sum())
    }
}

fn statement(rows: &PurgedRows) -> String {
    let PurgedRows { table, key, condition, age, .. } = rows;
    format!(
        "WITH gone AS MATERIALIZED (
            SELECT {key} FROM {table} WHERE {condition} ORDER BY {age} LIMIT $2 FOR UPDATE SKIP LOCKED)
        DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM gone)"
    )
}
