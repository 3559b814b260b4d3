//! Retention of rows past their use ([`crate::Store::purge`]).

use std::time::Duration;

/// Retention of links, reset tokens, sent mails and sessions after their end, so that an old one can be told from
/// an unknown one.
pub const KEPT_AFTER_END: Duration = Duration::from_hours(7 * 24);

/// Retention of OAuth states after expiry, so that a browser that comes back late is still redirected to its app.
pub const FLOWS_KEPT: Duration = Duration::from_hours(24);

/// Retention of decoy mails.
pub const DECOYS_KEPT: Duration = Duration::from_hours(1);

/// Longest retention of failures in the audit trail that concern no account.
pub const FAILURES_OF_NOBODY_KEPT: Duration = Duration::from_hours(30 * 24);

/// Most rows of one table that a single purge deletes.
pub const PURGED_AT_ONCE: u32 = 2_000;

/// Most pending accounts, and most sign-up hashes, that a single purge removes: each account cascades to many
/// rows.
pub const SIGN_UPS_PURGED_AT_ONCE: u32 = 100;

/// Retention of the search feed, for instances that fell behind: at most twice this long, and shorter under heavy
/// writes ([`MOST_CHANGES_KEPT`]).
pub const CHANGES_KEPT: Duration = Duration::from_hours(24);

/// Batches of [`PURGED_AT_ONCE`] feed rows that a single purge deletes: the feed grows fast, and all other tables
/// wait for it.
pub const CHANGE_PURGES: u32 = 250;

/// Most rows of the search feed that are kept: more than arrive while an index is rebuilt.
pub const MOST_CHANGES_KEPT: u32 = 2_000_000;
