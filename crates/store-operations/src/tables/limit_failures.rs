//! The table `limit_failures`: failed password checks, counted per subject.

use latchkey_domain::guess_limits;
use latchkey_domain::ids::SessionId;
use latchkey_domain::limits::{FailurePolicy, Failures, LimitKey};
use latchkey_domain::time::Timestamp;
use latchkey_store::StoreResult;

use crate::bulk::{Table, columns};
use crate::form::{Cells, Results, Script, Slot, statements, values};

pub const TABLE: Table = Table::new(
    "limit_failures",
    1,
    columns! {
        bytes key, int failures, int since, int blocked_until, int remembered_until
    },
);

statements! {
    FIND_FAILURES = "
    SELECT key, failures, since, blocked_until FROM limit_failures WHERE key IN ($1, $2) ORDER BY key";
    /// Locks in key order to prevent deadlocks.
    LOCK_FAILURES = "
    SELECT key, failures, since, blocked_until FROM limit_failures WHERE key IN ($1, $2) ORDER BY key
    FOR NO KEY UPDATE";
    /// A concurrent insert is a unique violation.
    CREATE_FAILURES = "
    INSERT INTO limit_failures (key, failures, since, blocked_until, remembered_until)
    VALUES ($1, $2, $3, $4, $5)";
    SAVE_FAILURES = "
    UPDATE limit_failures SET failures = $2, since = $3, blocked_until = $4, remembered_until = $5 WHERE key = $1";
    /// Clears the failures of a subject.
    DELETE_FAILURES: change delete(key: &LimitKey) = "DELETE FROM limit_failures WHERE key = $1";
    /// Same as [`delete`], if this session was opened.
    DELETE_FAILURES_IF_OPENED: change delete_if_opened(key: &LimitKey, session: SessionId) =
        "DELETE FROM limit_failures WHERE key = $1 AND EXISTS (SELECT 1 FROM sessions WHERE id = $2)";
}

/// Lock mode of a counter read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// Locks the counters until the end of the transaction.
    Locked,
    /// Takes no lock: nothing will be written.
    Free,
}

/// Counters that have a row, by key.
pub(crate) struct Counters(Vec<(LimitKey, Failures)>);

impl Counters {
    /// Reads the counters of two subjects.
    pub(crate) fn find(script: &mut Script, keys: [LimitKey; 2], hold: Hold) -> Slot {
        let sql = if hold == Hold::Locked { &LOCK_FAILURES } else { &FIND_FAILURES };
        script.read(sql, values![&keys[0], &keys[1]])
    }

    pub(crate) fn of(results: &Results<'_>, slot: Slot) -> StoreResult<Self> {
        results.list(slot, read_counter).map(Self)
    }

    /// Failures of a subject; zero without a row.
    pub(crate) fn failures_of(&self, key: &LimitKey) -> Failures {
        self.row(key).copied().unwrap_or_default()
    }

    /// Counts a failure of a subject.
    pub(crate) fn count(&self, script: &mut Script, key: &LimitKey, policy: &FailurePolicy, now: Timestamp) {
        let failures = self.failures_of(key).incremented(policy, now);
        let remembered_until = guess_limits::remembered_until(&failures, policy);
        let values = values![key, failures.count, failures.since, failures.blocked_until, remembered_until];
        script.change(if self.row(key).is_none() { &CREATE_FAILURES } else { &SAVE_FAILURES }, values);
    }

    fn row(&self, key: &LimitKey) -> Option<&Failures> {
        self.0.iter().find(|(counter, _)| counter == key).map(|(_, failures)| failures)
    }
}

fn read_counter(cells: &mut Cells<'_>) -> StoreResult<(LimitKey, Failures)> {
    let key = LimitKey::from_bytes(cells.of("limit_failures").array("key")?);
    let failures = Failures {
        count: cells.count("failures")?,
        since: cells.time("since")?,
        blocked_until: cells.time("blocked_until")?,
    };
    Ok((key, failures))
}
