//! Retention periods and batch sizes of [`crate::Store::purge`] and of the other purges.

use std::time::Duration;

/// Retention of sent mails after they were sent. Their payload is deleted when they are sent.
pub const MAIL_RETENTION: Duration = Duration::from_hours(30 * 24);

/// Retention of links, reset tokens and sessions after their end. Until then an old link or token gets a
/// more exact response than an unknown one.
pub const RETENTION_AFTER_END: Duration = Duration::from_hours(7 * 24);

/// Retention of OAuth states after expiry. A browser that returns late is still redirected to its app.
pub const FLOW_RETENTION: Duration = Duration::from_hours(24);

/// Retention of the numbers of events of a day after its start.
pub const STATISTICS_RETENTION: Duration = Duration::from_hours(91 * 24);

/// Time for which a mail that was written for constant cost and is never sent (a decoy) is retained.
pub const DECOY_RETENTION: Duration = Duration::from_hours(1);

/// Maximum retention of failure events in the audit trail that name no account.
pub const ANONYMOUS_FAILURE_RETENTION: Duration = Duration::from_hours(30 * 24);

/// Maximum number of rows that one purge deletes from a table.
pub const PURGE_BATCH: u32 = 2_000;

/// Maximum number of pending accounts, of accounts whose scheduled deletion is due, and of password hashes of
/// sign-ups that one purge deletes of each. It is small because the deletion of an account cascades to many
/// rows.
pub const ACCOUNT_PURGE_BATCH: u32 = 100;

/// Retention of rows in the search feed. An instance whose index lags behind needs them. Rows are deleted
/// after one to two times this period, earlier under heavy writes ([`FEED_LIMIT`]).
pub const FEED_RETENTION: Duration = Duration::from_hours(24);

/// Maximum number of batches of [`PURGE_BATCH`] search feed rows that one purge deletes. It is large because the feed
/// grows faster than other tables.
pub const FEED_PURGE_BATCHES: u32 = 250;

/// Maximum number of rows retained in the search feed. More rows than this are not expected while an instance rebuilds
/// its index.
pub const FEED_LIMIT: u32 = 2_000_000;
