//! Deleting what is past its use. One table at a time, so that other writes get in between.

use latchkey_domain::time::Timestamp;
use latchkey_store::{CHANGE_PURGES, DECOYS_KEPT, FLOWS_KEPT, KEPT_AFTER_END, PURGED_AT_ONCE, StoreResult};
use rusqlite::params;

use crate::search::pending;
use crate::search_feed;
use crate::statements::execute;
use crate::store::SqliteStore;

const CODES: &str = "
    DELETE FROM codes WHERE (email_key, purpose) IN
        (SELECT email_key, purpose FROM codes WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)";
const CODE_BUDGETS: &str = "
    DELETE FROM code_budgets WHERE (email_key, purpose) IN
        (SELECT email_key, purpose FROM code_budgets WHERE ends_at <= ?1 ORDER BY ends_at LIMIT ?2)";
const LINK_TOKENS: &str = "
    DELETE FROM link_tokens WHERE hash IN
        (SELECT hash FROM link_tokens WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)";
const SENT_MAILS: &str = "
    DELETE FROM outbox WHERE id IN
        (SELECT id FROM outbox WHERE state = 'sent' AND ended_at <= ?1 ORDER BY ended_at LIMIT ?2)";
const DECOY_MAILS: &str = "
    DELETE FROM outbox WHERE id IN
        (SELECT id FROM outbox WHERE state = 'decoy' AND created_at <= ?1 ORDER BY created_at LIMIT ?2)";
const SESSIONS: &str = "
    DELETE FROM sessions WHERE id IN (
        SELECT id FROM sessions WHERE coalesce(ended_at, min(idle_expires_at, absolute_expires_at)) <= ?1
        ORDER BY coalesce(ended_at, min(idle_expires_at, absolute_expires_at)) LIMIT ?2)";
const OAUTH_FLOWS: &str = "
    DELETE FROM oauth_flows WHERE state_hash IN
        (SELECT state_hash FROM oauth_flows WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)";
const OAUTH_CODES: &str = "
    DELETE FROM oauth_codes WHERE code_hash IN
        (SELECT code_hash FROM oauth_codes WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)";
const OAUTH_USED_TOKENS: &str = "
    DELETE FROM oauth_used_tokens WHERE hash IN
        (SELECT hash FROM oauth_used_tokens WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)";
const LIMIT_BUCKETS: &str = "
    DELETE FROM limit_buckets WHERE key IN
        (SELECT key FROM limit_buckets WHERE full_at <= ?1 ORDER BY full_at LIMIT ?2)";
const LIMIT_FAILURES: &str = "
    DELETE FROM limit_failures WHERE key IN
        (SELECT key FROM limit_failures WHERE remembered_until < ?1 ORDER BY remembered_until LIMIT ?2)";
const KNOWN_CLIENTS: &str = "
    DELETE FROM known_clients WHERE key IN
        (SELECT key FROM known_clients WHERE known_until <= ?1 ORDER BY known_until LIMIT ?2)";
const WIPE_SEALS: &str = "
    UPDATE sessions SET sealed_successor = NULL, sealed_until = NULL WHERE id IN
        (SELECT id FROM sessions WHERE sealed_until < ?1 ORDER BY sealed_until LIMIT ?2)";

/// Rounds at a purge of bringing the index for searches up to date: for a hundred thousand profiles.
const TAKE_UPS: usize = 400;

impl SqliteStore {
    /// Deletes up to [`PURGED_AT_ONCE`] rows of each table; answers how many in all. Changes that indexes
    /// have read and sealed refresh tokens past their grace go as well, and are not counted. The index for searches is
    /// brought up to date.
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
        let mut deleted = 0;
        for (statement, until) in steps {
            deleted += self.purge_rows(statement, until).await?;
        }
        // All sealed tokens at every purge, however many sessions refresh: they are kept for their grace alone. Neither
        // they nor changes that were kept for indexes are counted.
        while self.purge_rows(WIPE_SEALS, now).await? >= u64::from(PURGED_AT_ONCE) {}
        for _ in 0..CHANGE_PURGES {
            if self.write(move |conn| search_feed::purge(conn, now)).await? < u64::from(PURGED_AT_ONCE) {
                break;
            }
        }
        for _ in 0..TAKE_UPS {
            if self.write(|conn| pending::take_up(conn, pending::AT_ONCE)).await? < pending::AT_ONCE as usize
            {
                break;
            }
        }
        Ok(deleted)
    }

    async fn purge_rows(&self, statement: &'static str, until: Timestamp) -> StoreResult<u64> {
        self.write(move |conn| {
            Ok(execute(conn, statement, params![until.as_millis(), PURGED_AT_ONCE])? as u64)
        })
        .await
    }
}
