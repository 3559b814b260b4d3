//! Statistics of the whole service: counts of its accounts, sessions and mails, and of the events of each day.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::imported_hash::scheme_name;
use crate::stored_time::is_implausible;
use crate::time::Timestamp;

/// Length of a day. Days are those of UTC, which has no leap seconds in Unix time.
pub const DAY: Duration = Duration::from_hours(24);
/// Maximum number of days for which events are counted.
pub const MOST_DAYS: u32 = 90;
/// Age from which counts are renewed. Upkeep runs every minute, so counts are at most about a minute old.
pub const RENEWED_AFTER: Duration = Duration::from_secs(55);

/// Counts of the whole service at one time. A field that an older version did not store is zero.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Number of accounts.
    pub users: u64,
    /// Number of accounts in the state [`Verified`](crate::user_list::UserState::Verified).
    pub verified: u64,
    /// Number of accounts in the state [`Pending`](crate::user_list::UserState::Pending).
    pub pending: u64,
    /// Number of banned accounts.
    pub banned: u64,
    /// Number of accounts with a role in the console.
    pub operators: u64,
    /// Number of accounts in use within the last day.
    pub active_day: u64,
    /// Number of accounts in use within the last 7 days.
    pub active_week: u64,
    /// Number of accounts in use within the last 30 days.
    pub active_month: u64,
    /// Number of live sessions.
    pub live_sessions: u64,
    /// Number of accounts with a password.
    pub passwords: u64,
    /// Number of passwords by the work class of their hash ([`crate::imported_hash::class`]). The sum is `passwords`.
    pub password_classes: BTreeMap<String, u64>,
    /// Number of accounts with two-step sign-in.
    pub two_step: u64,
    /// Number of accounts with a passkey.
    pub passkeys: u64,
    /// Number of linked identities by the key of their provider.
    pub providers: BTreeMap<String, u64>,
    /// Number of mails that wait for delivery.
    pub mails_queued: u64,
    /// Number of mails that failed permanently.
    pub mails_dead: u64,
    /// Creation time of the oldest mail that waits for delivery, in milliseconds since 1970; `None` if none waits.
    pub oldest_mail_at: Option<i64>,
    /// Name of the database engine: `sqlite` or `postgresql`.
    pub engine: String,
    /// Size of the database in bytes.
    pub database_bytes: u64,
    /// Number of the newest migration of the database.
    pub migration: u64,
}

impl Counts {
    /// Returns the number of passwords by the scheme of their hash.
    #[must_use]
    pub fn passwords_by_scheme(&self) -> BTreeMap<&'static str, u64> {
        let mut schemes = BTreeMap::new();
        for (class, passwords) in &self.password_classes {
            *schemes.entry(scheme_name(class)).or_default() += passwords;
        }
        schemes
    }
}

/// Numbers of events of one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DayCounts {
    /// Number of accounts made by sign-up.
    pub sign_ups: u64,
    /// Number of sessions opened by a sign-in.
    pub sign_ins: u64,
    /// Number of refused sign-ins.
    pub failures: u64,
    /// Number of passwords set by a reset.
    pub resets: u64,
}

/// Returns the start of the day, in UTC, that is `days` before the day of `now`.
#[must_use]
pub fn start_of_day(now: Timestamp, days: u32) -> Timestamp {
    let day = i64::try_from(DAY.as_millis()).unwrap_or(i64::MAX);
    let today = now.as_millis().div_euclid(day).saturating_mul(day);
    Timestamp::from_millis(today).minus(DAY * days)
}

/// True if counts of this time are to be renewed. Counts from the future count as outdated: a clock that ran ahead
/// wrote their time.
#[must_use]
pub fn are_outdated(counted_at: Timestamp, now: Timestamp) -> bool {
    now.since(counted_at) >= RENEWED_AFTER || is_implausible(counted_at, Duration::ZERO, now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_begin_at_midnight_in_utc() {
        let now = Timestamp::from_millis(1_772_445_600_000); // 2026-03-02T10:00:00Z
        assert_eq!(start_of_day(now, 0).to_rfc3339(), "2026-03-02T00:00:00.000Z");
        assert_eq!(start_of_day(now, 2).to_rfc3339(), "2026-02-28T00:00:00.000Z");
    }

    #[test]
    fn counts_are_outdated_after_a_minute_or_if_they_come_from_the_future() {
        let now = Timestamp::from_millis(1_000_000_000);
        assert!(!are_outdated(now.minus(Duration::from_secs(54)), now));
        assert!(are_outdated(now.minus(Duration::from_secs(55)), now));
        assert!(are_outdated(now.plus(Duration::from_hours(1)), now));
    }
}
