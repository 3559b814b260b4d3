//! Deleting what is past its use. Rows that somebody holds are left to the next time, so a purge waits for nobody and
//! all of its statements go together.

use latchkey_domain::time::Timestamp;
use latchkey_store::{DECOYS_KEPT, FLOWS_KEPT, KEPT_AFTER_END, PURGED_AT_ONCE, StoreResult};

use crate::script::Script;
use crate::store::PostgresStore;
use crate::values::values;

/// Deletes at most so many rows of a table by its key, those first that have waited longest.
macro_rules! purge {
    ($table:literal, $key:literal, $condition:literal, $age:literal) => {
        concat!(
            "WITH gone AS MATERIALIZED (SELECT ",
            $key,
            " FROM ",
            $table,
            " WHERE ",
            $condition,
            " ORDER BY ",
            $age,
            " LIMIT $2 FOR UPDATE SKIP LOCKED) DELETE FROM ",
            $table,
            " WHERE (",
            $key,
            ") IN (SELECT ",
            $key,
            " FROM gone)"
        )
    };
}

const CODES: &str = purge!("codes", "email_key, purpose", "expires_at <= $1", "expires_at");
const CODE_BUDGETS: &str = purge!("code_budgets", "email_key, purpose", "ends_at <= $1", "ends_at");
const LINK_TOKENS: &str = purge!("link_tokens", "hash", "expires_at <= $1", "expires_at");
const SENT_MAILS: &str = purge!("outbox", "id", "state = 'sent' AND ended_at <= $1", "ended_at");
const DECOY_MAILS: &str = purge!("outbox", "id", "state = 'decoy' AND created_at <= $1", "created_at");
const SESSIONS: &str = purge!(
    "sessions",
    "id",
    "coalesce(ended_at, least(idle_expires_at, absolute_expires_at)) <= $1",
    "coalesce(ended_at, least(idle_expires_at, absolute_expires_at))"
);
const OAUTH_FLOWS: &str = purge!("oauth_flows", "state_hash", "expires_at <= $1", "expires_at");
const OAUTH_CODES: &str = purge!("oauth_codes", "code_hash", "expires_at <= $1", "expires_at");
const OAUTH_USED_TOKENS: &str = purge!("oauth_used_tokens", "hash", "expires_at <= $1", "expires_at");
const LIMIT_BUCKETS: &str = purge!("limit_buckets", "key", "full_at <= $1", "full_at");
const LIMIT_FAILURES: &str = purge!("limit_failures", "key", "remembered_until < $1", "remembered_until");
const KNOWN_CLIENTS: &str = purge!("known_clients", "key", "known_until <= $1", "known_until");
const WIPE_SEALS: &str = "
    WITH stale AS MATERIALIZED (
        SELECT id FROM sessions WHERE sealed_until < $1 ORDER BY sealed_until LIMIT $2 FOR UPDATE SKIP LOCKED)
    UPDATE sessions SET sealed_successor = NULL, sealed_until = NULL WHERE id IN (SELECT id FROM stale)";

impl PostgresStore {
    /// Deletes up to [`PURGED_AT_ONCE`] rows of each table; answers how many in all. Changes that indexes
    /// have read and sealed refresh tokens past their grace go as well, and are not counted.
    pub(crate) async fn purge_all(&self, now: Timestamp) -> StoreResult<u64> {
        let ended_before = now.minus(KEPT_AFTER_END);
        let steps = [
            (CODES, now),
            (CODE_BUDGETS, now),
            (LINK_TOKENS, ended_before),
            (SENT_MAILS, ended_before),
            (DECOY_MAILS, now.minus(DECOYS_KEPT)),
            (SESSIONS, ended_before),
            (OAUTH_FLOWS, now.minus(FLOWS_KEPT)),
            (OAUTH_CODES, now),
            (OAUTH_USED_TOKENS, now),
            (LIMIT_BUCKETS, now),
            (LIMIT_FAILURES, now),
            (KNOWN_CLIENTS, now),
        ];
        let mut writes = Script::default();
        let deleted = steps.map(|(sql, until)| writes.add(sql, values![until, PURGED_AT_ONCE]));
        let answers = self.write(&writes).await?;
        // All sealed tokens at every purge, however many sessions refresh: they are kept for their grace alone. Neither
        // they nor changes that were kept for indexes are counted.
        while self.tell(WIPE_SEALS, values![now, PURGED_AT_ONCE]).await?.affected >= u64::from(PURGED_AT_ONCE)
        {
        }
        self.purge_changes(now).await?;
        Ok(deleted.into_iter().map(|slot| answers.affected(slot)).sum())
    }
}
