//! Retention rules of tables: which rows are deleted, oldest first.

use std::time::Duration;

use latchkey_domain::time::Timestamp;
use latchkey_store::{DECOY_RETENTION, FLOW_RETENTION, RETENTION_AFTER_END};

/// Retention rule of a table.
pub struct PurgedRows {
    pub table: &'static str,
    /// Primary key.
    pub key: &'static str,
    /// Condition on the rows; `$1` is the newest time to delete, in milliseconds.
    pub condition: &'static str,
    /// Sort order, backed by an index.
    pub age: &'static str,
    /// Retention after that time.
    pub kept: Duration,
}

const NO_LONGER: Duration = Duration::ZERO;
const SESSION_END: &str = "coalesce(ended_at, least(idle_expires_at, absolute_expires_at))";
const SESSION_ENDED: &str = "coalesce(ended_at, least(idle_expires_at, absolute_expires_at)) <= $1";

/// All rules. Each counts separately in a purge.
pub const PURGED: [PurgedRows; 12] = [
    expired("codes", "email_key, purpose, lane", NO_LONGER),
    rows("code_budgets", "email_key, purpose, lane", "ends_at <= $1", "ends_at", NO_LONGER),
    expired("link_tokens", "hash", RETENTION_AFTER_END),
    rows("outbox", "id", "state = 'sent' AND ended_at <= $1", "ended_at", RETENTION_AFTER_END),
    rows("outbox", "id", "state = 'decoy' AND created_at <= $1", "created_at", DECOY_RETENTION),
    rows("sessions", "id", SESSION_ENDED, SESSION_END, RETENTION_AFTER_END),
    expired("oauth_flows", "state_hash", FLOW_RETENTION),
    expired("oauth_codes", "code_hash", NO_LONGER),
    expired("oauth_used_tokens", "hash", NO_LONGER),
    rows("limit_buckets", "key", "full_at <= $1", "full_at", NO_LONGER),
    rows("limit_failures", "key", "remembered_until < $1", "remembered_until", NO_LONGER),
    rows("known_clients", "key", "known_until <= $1", "known_until", NO_LONGER),
];

const fn expired(table: &'static str, key: &'static str, kept: Duration) -> PurgedRows {
    rows(table, key, "expires_at <= $1", "expires_at", kept)
}

const fn rows(
    table: &'static str,
    key: &'static str,
    condition: &'static str,
    age: &'static str,
    kept: Duration,
) -> PurgedRows {
    PurgedRows { table, key, condition, age, kept }
}

impl PurgedRows {
    /// Newest time to delete at `now`.
    #[must_use]
    pub fn until(&self, now: Timestamp) -> Timestamp {
        now.minus(self.kept)
    }
}
