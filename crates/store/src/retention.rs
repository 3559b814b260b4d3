//! How long engines keep what is past its use ([`crate::Store::purge`]).

use std::time::Duration;

/// Links, reset tokens, sent mails and sessions stay this long after their end, so that an old one can be told
/// from an unknown one.
pub const KEPT_AFTER_END: Duration = Duration::from_hours(7 * 24);

/// OAuth states stay this long after their end, so that a browser that comes back late is sent to its app.
pub const FLOWS_KEPT: Duration = Duration::from_hours(24);

/// Mails that are never sent stay this long.
pub const DECOYS_KEPT: Duration = Duration::from_hours(1);

/// Failures in the audit trail that are about no account stay this long at the most.
pub const FAILURES_OF_NOBODY_KEPT: Duration = Duration::from_hours(30 * 24);

/// Rows of one table that a single purge deletes at the most.
pub const PURGED_AT_ONCE: u32 = 2_000;

/// Pending accounts that a single purge removes at the most, and hashes of sign-ups: each account takes much with it.
pub const SIGN_UPS_PURGED_AT_ONCE: u32 = 100;

/// Changes of what search shows stay this long, for instances that were out of touch: up to twice as long, and shorter
/// where there are very many ([`MOST_CHANGES_KEPT`]).
pub const CHANGES_KEPT: Duration = Duration::from_hours(24);

/// Times that a single purge deletes [`PURGED_AT_ONCE`] changes of what search shows: many come in, and everything else
/// that waits for the purge waits for this.
pub const CHANGE_PURGES: u32 = 250;

/// Changes of what search shows that are kept at the most: more than come in while an index is made anew.
pub const MOST_CHANGES_KEPT: u32 = 2_000_000;
