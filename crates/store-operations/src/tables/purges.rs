//! Type of a retention rule; the rules are in [`super::PURGED`]. A purge deletes rows past their retention, oldest
//! first.

use std::time::Duration;

use latchkey_domain::time::Timestamp;

/// Retention rule for rows of a table.
pub struct PurgedRows {
    pub table: &'static str,
    /// Columns of the primary key, separated by commas.
    pub key: &'static str,
    /// SQL condition on the rows to delete. `$1` is the result of [`Self::until`].
    pub condition: &'static str,
    /// SQL expression for the time at which a row ended or expired. It is indexed.
    pub age: &'static str,
    /// Time for which a row is retained after the time of the column `age`.
    pub kept: Duration,
}

/// Returns the retention rule for rows that expire at the time in their column `expires_at`.
pub(super) const fn expired(table: &'static str, key: &'static str, kept: Duration) -> PurgedRows {
    rows(table, key, "expires_at <= $1", "expires_at", kept)
}

/// Returns the retention rule for rows that meet a condition.
pub(super) const fn rows(
    table: &'static str,
    key: &'static str,
    condition: &'static str,
    age: &'static str,
    kept: Duration,
) -> PurgedRows {
    PurgedRows { table, key, condition, age, kept }
}

impl PurgedRows {
    /// Returns the latest value of `age` with which a purge at `now` deletes a row.
    #[must_use]
    pub fn until(&self, now: Timestamp) -> Timestamp {
        now.minus(self.kept)
    }
}
