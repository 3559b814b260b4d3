//! Retention of rows past their use ([`crate::Store::purge`]).

use std::time::Duration;

/// Retention of links, reset tokens, sent mails and sessions after their end, so that an old one can be told from
/// an unknown one.
pub const RETENTION_AFTER_END: Duration = Duration::from_hours(7 * 24);

/// Retention of OAuth states after expiry, so that a browser that comes back late is still redirected to its app.
pub const FLOW_RETENTION: Duration = Duration::from_hours(24);

/// Retention of decoy mails.
pub const DECOY_RETENTION: Duration = Duration::from_hours(1);

/// Longest retention of failures in the audit trail that concern no account.
pub const ANONYMOUS_FAILURE_RETENTION: Duration = Duration::from_hours(30 * 24);

/// Most rows of one table that a single purge deletes.
pub const PURGE_BATCH: u32 = 2_000;

/// Most pending accounts, and most sign-up hashes, that a single purge removes: each account cascades to many
/// rows.
pub const SIGN_UP_PURGE_BATCH: u32 = 100;

/// Retention of the search feed, for instances that fell behind: at most twice this long, and shorter under heavy
/// writes ([`FEED_LIMIT`]).
pub const FEED_RETENTION: Duration = Duration::from_hours(24);

/// Batches of [`PURGE_BATCH`] feed rows that a single purge deletes: the feed grows fast, and all other tables
/// wait for it.
pub const FEED_PURGE_BATCHES: u32 = 250;

/// Most rows of the search feed that are kept: more than arrive while an index is rebuilt.
pub const FEED_LIMIT: u32 = 2_000_000;
