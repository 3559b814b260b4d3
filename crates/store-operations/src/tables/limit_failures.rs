//! Table `limit_failures`: counters of wrong passwords and wrong second factors. A key stands for an account,
//! or for an account and a client.

use latchkey_domain::guess_limits;
use latchkey_domain::ids::SessionId;
use latchkey_domain::limits::{FailurePolicy, Failures, LimitKey};
use latchkey_domain::time::Timestamp;
use latchkey_store::StoreResult;

use crate::bulk::{Table, columns};
use crate::form::{Cells, Results, Script, Slot, Value, statements, values};

pub const TABLE: Table = Table::new(
    "limit_failures",
    1,
    columns! {
        bytes key, int failures, int since, int blocked_until, int remembered_until, bytes account_key
    },
);

statements! {
    FIND_FAILURES = "
    SELECT key, failures, since, blocked_until FROM limit_failures WHERE key IN ($1, $2, $3, $4) ORDER BY key";
    /// Locks and reads counters, in the order of their keys to prevent deadlocks.
    LOCK_FAILURES = "
    SELECT key, failures, since, blocked_until FROM limit_failures WHERE key IN ($1, $2, $3, $4) ORDER BY key
    FOR NO KEY UPDATE";
    /// Inserts a failure counter. A concurrent insert of the same key is a unique violation, which restarts the
    /// operation.
    CREATE_FAILURES = "
    INSERT INTO limit_failures (key, failures, since, blocked_until, remembered_until, account_key)
    VALUES ($1, $2, $3, $4, $5, $6)";
    SAVE_FAILURES = "
    UPDATE limit_failures SET failures = $2, since = $3, blocked_until = $4, remembered_until = $5, account_key = $6
    WHERE key = $1";
    DELETE_FAILURES: change delete(key: &LimitKey) = "DELETE FROM limit_failures WHERE key = $1";
    /// Deletes the failure counter of a key, but only if a session with this id exists.
    DELETE_FAILURES_IF_OPENED: change delete_if_opened(key: &LimitKey, session: SessionId) =
        "DELETE FROM limit_failures WHERE key = $1 AND EXISTS (SELECT 1 FROM sessions WHERE id = $2)";
    /// Reads the counters of client networks that belong to the counter of an account: of many those that are remembered
    /// longest.
    LIST_PAIRS: read list_pairs(account: &LimitKey) = "
    SELECT key, failures, since, blocked_until FROM limit_failures WHERE account_key = $1
    ORDER BY remembered_until DESC, key LIMIT 100";
    /// Locks the counters of an account: three by their keys, and those of client networks by the first two.
    LOCK_ALL_OF_ACCOUNT: read lock_all_of_account(password: &LimitKey, second_factor: &LimitKey, in_a_row: &LimitKey) = "
    SELECT key FROM limit_failures WHERE key IN ($1, $2, $3) OR account_key IN ($1, $2) ORDER BY key FOR UPDATE";
    DELETE_ALL_OF_ACCOUNT: change delete_all_of_account(
        password: &LimitKey, second_factor: &LimitKey, in_a_row: &LimitKey
    ) = "DELETE FROM limit_failures WHERE key IN ($1, $2, $3) OR account_key IN ($1, $2)";
}

/// Maximum number of counters that one statement reads.
const MOST_COUNTERS: usize = 4;

/// Lock mode for a read of failure counters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// Locks the counters until the end of the transaction.
    Locked,
    /// Takes no lock. Used by reads that no write depends on.
    Free,
}

/// Stored failure counters by key.
pub(crate) struct Counters(Vec<(LimitKey, Failures)>);

impl Counters {
    /// Adds the statement that reads up to four counters.
    pub(crate) fn find(script: &mut Script, keys: &[LimitKey], hold: Hold) -> Slot {
        let sql = if hold == Hold::Locked { &LOCK_FAILURES } else { &FIND_FAILURES };
        // The statement has four parameters. Unused ones repeat the last key.
        let last = keys.last().into_iter().cycle();
        let values = keys.iter().chain(last).take(MOST_COUNTERS).map(Value::from).collect();
        script.read(sql, values)
    }

    pub(crate) fn of(results: &Results<'_>, slot: Slot) -> StoreResult<Self> {
        results.list(slot, read_counter).map(Self)
    }

    /// Returns the failures of a key, zero if none are stored.
    pub(crate) fn failures_of(&self, key: &LimitKey) -> Failures {
        self.row(key).copied().unwrap_or_default()
    }

    /// Counts a failure. `account` is the counter of the account, if the counted one is of a client network.
    pub(crate) fn count(
        &self,
        script: &mut Script,
        (key, account): (&LimitKey, Option<&LimitKey>),
        policy: &FailurePolicy,
        now: Timestamp,
    ) {
        let failures = self.failures_of(key).incremented(policy, now);
        let remembered_until = guess_limits::remembered_until(&failures, policy);
        let Failures { count, since, blocked_until } = failures;
        let values = values![key, count, since, blocked_until, remembered_until, account];
        script.change(if self.row(key).is_none() { &CREATE_FAILURES } else { &SAVE_FAILURES }, values);
    }

    fn row(&self, key: &LimitKey) -> Option<&Failures> {
        self.0.iter().find(|(counter, _)| counter == key).map(|(_, failures)| failures)
    }
}

/// Decodes the failures of a list of counters.
pub(crate) fn failures(results: &Results<'_>, slot: Slot) -> StoreResult<Vec<Failures>> {
    results.list(slot, |cells| Ok(read_counter(cells)?.1))
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
