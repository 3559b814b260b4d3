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

/// Adds up the numbers of users in shard 0. Rows that a transaction has just written are left to the next purge.
const FOLD_USER_COUNTS: &str = "
    WITH written AS MATERIALIZED (
        SELECT provider, state, day, shard FROM user_counts WHERE shard <> 0 LIMIT $1 FOR UPDATE SKIP LOCKED),
    gone AS (
        DELETE FROM user_counts AS c USING written AS w
        WHERE (c.provider, c.state, c.day, c.shard) = (w.provider, w.state, w.day, w.shard)
        RETURNING c.provider, c.state, c.day, c.total)
    INSERT INTO user_counts (provider, state, day, shard, total)
    SELECT provider, state, day, 0, sum(total) FROM gone GROUP BY provider, state, day ORDER BY provider, state, day
    ON CONFLICT (provider, state, day, shard) DO UPDATE SET total = user_counts.total + excluded.total";

impl Postgres {
    /// Deletes up to [`PURGE_BATCH`] rows per retention rule and returns their total. Also deletes old changes of the
    /// search feed and sealed refresh tokens past their grace period, without counting them, and adds up the numbers of
    /// users.
    pub(crate) async fn purge_all(&self, now: Timestamp) -> StoreResult<u64> {
        let mut writes = Script::default();
        let add = |rows: &PurgedRows| writes.add(statement(rows), values![rows.until(now), PURGE_BATCH]);
        let deleted: Vec<_> = PURGED.iter().map(add).collect();
        let outputs = self.write_script(&writes).await?;
        // Every purge deletes all expired ones, however many sessions refresh, because they are needed only during the
        // grace period.
        while self.execute(WIPE_SEALS, values![now, PURGE_BATCH]).await?.affected >= u64::from(PURGE_BATCH) {}
        self.execute(FOLD_USER_COUNTS, values![PURGE_BATCH]).await?;
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
