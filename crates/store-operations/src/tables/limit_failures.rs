//! The table `limit_failures`: failed password checks, counted per subject.

use latchkey_domain::guess_guard;
use latchkey_domain::ids::SessionId;
use latchkey_domain::limits::{FailurePolicy, Failures, LimitKey};
use latchkey_domain::time::Timestamp;
use latchkey_store::StoreResult;

use crate::bulk::{Column, Table};
use crate::form::{Cells, Results, Script, Slot, statements, values};

/// The columns of `limit_failures`, the key first.
pub const TABLE: Table = Table::new(
    "limit_failures",
    1,
    &[
        Column::bytes("key"),
        Column::int("failures"),
        Column::int("since"),
        Column::int("blocked_until"),
        Column::int("remembered_until"),
    ],
);

statements! {
    FIND_FAILURES = "
    SELECT key, failures, since, blocked_until FROM limit_failures WHERE key IN ($1, $2) ORDER BY key";
    /// Locks in the order of the keys, so that no two transactions wait for each other.
    LOCK_FAILURES = "
    SELECT key, failures, since, blocked_until FROM limit_failures WHERE key IN ($1, $2) ORDER BY key
    FOR NO KEY UPDATE";
    /// Breaks the unique key where another transaction counted first.
    CREATE_FAILURES = "
    INSERT INTO limit_failures (key, failures, since, blocked_until, remembered_until)
    VALUES ($1, $2, $3, $4, $5)";
    SAVE_FAILURES = "
    UPDATE limit_failures SET failures = $2, since = $3, blocked_until = $4, remembered_until = $5 WHERE key = $1";
    DELETE_FAILURES = "DELETE FROM limit_failures WHERE key = $1";
    DELETE_FAILURES_IF_OPENED =
        "DELETE FROM limit_failures WHERE key = $1 AND EXISTS (SELECT 1 FROM sessions WHERE id = $2)";
}

/// Freedom of other transactions to count failures until the end of this one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// They wait.
    Locked,
    /// They may: nothing is written.
    Free,
}

/// Counters with a row, by key.
pub(crate) struct Counters(Vec<(LimitKey, Failures)>);

impl Counters {
    /// Reads the counters of two subjects.
    pub(crate) fn find(script: &mut Script, keys: [LimitKey; 2], hold: Hold) -> Slot {
        let sql = if hold == Hold::Locked { &LOCK_FAILURES } else { &FIND_FAILURES };
        script.read(sql, values![&keys[0], &keys[1]])
    }

    /// The counters that were found.
    pub(crate) fn of(results: &Results<'_>, slot: Slot) -> StoreResult<Self> {
        results.list(slot, read_counter).map(Self)
    }

    /// The failures of a subject; none without a row.
    pub(crate) fn failures_of(&self, key: &LimitKey) -> Failures {
        self.row(key).copied().unwrap_or_default()
    }

    /// Counts one more failure of a subject.
    pub(crate) fn count(&self, script: &mut Script, key: &LimitKey, policy: &FailurePolicy, now: Timestamp) {
        let failures = self.failures_of(key).and_one_more(policy, now);
        let remembered_until = guess_guard::remembered_until(&failures, policy);
        let values = values![key, failures.count, failures.since, failures.blocked_until, remembered_until];
        script.change(if self.row(key).is_none() { &CREATE_FAILURES } else { &SAVE_FAILURES }, values);
    }

    fn row(&self, key: &LimitKey) -> Option<&Failures> {
        self.0.iter().find(|(counter, _)| counter == key).map(|(_, failures)| failures)
    }
}

/// Forgets the failures of a subject.
pub(crate) fn delete(script: &mut Script, key: &LimitKey) {
    script.change(&DELETE_FAILURES, values![key]);
}

/// The same where this session was opened.
pub(crate) fn delete_if_opened(script: &mut Script, key: &LimitKey, session: SessionId) {
    script.change(&DELETE_FAILURES_IF_OPENED, values![key, session]);
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
