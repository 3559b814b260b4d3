//! The guess limits of password checks. Counting and judging are the domain's.

use latchkey_domain::guess_guard;
use latchkey_domain::ids::SessionId;
use latchkey_domain::limits::{FailurePolicy, Failures, LimitKey, Limited};
use latchkey_domain::time::Timestamp;
use latchkey_store::SignInGuard;

use crate::errors::Fallible;
use crate::rows::Cells;
use crate::script::{Answers, Script, Slot};
use crate::values::{Value, values};

const FIND_FAILURES: &str = "
    SELECT key, failures, since, blocked_until FROM limit_failures WHERE key = ANY($1) ORDER BY key";
const LOCK_FAILURES: &str = "
    SELECT key, failures, since, blocked_until FROM limit_failures WHERE key = ANY($1) ORDER BY key
    FOR NO KEY UPDATE";
const CREATE_FAILURES: &str = "
    INSERT INTO limit_failures (key, failures, since, blocked_until, remembered_until)
    VALUES ($1, $2, $3, $4, $5)";
const SAVE_FAILURES: &str = "
    UPDATE limit_failures SET failures = $2, since = $3, blocked_until = $4, remembered_until = $5 WHERE key = $1";
const DELETE_FAILURES: &str = "DELETE FROM limit_failures WHERE key = $1";
const FIND_KNOWN_CLIENT: &str = "SELECT known_until FROM known_clients WHERE key = $1";
const SAVE_KNOWN_CLIENT: &str = "
    INSERT INTO known_clients AS c (key, known_until) VALUES ($1, $2)
    ON CONFLICT (key) DO UPDATE SET known_until = greatest(c.known_until, excluded.known_until)";
const DELETE_FAILURES_IF_OPENED: &str =
    "DELETE FROM limit_failures WHERE key = $1 AND EXISTS (SELECT 1 FROM sessions WHERE id = $2)";
const SAVE_KNOWN_CLIENT_IF_OPENED: &str = "
    INSERT INTO known_clients AS c (key, known_until)
    SELECT $1, $2 WHERE EXISTS (SELECT 1 FROM sessions WHERE id = $3)
    ON CONFLICT (key) DO UPDATE SET known_until = greatest(c.known_until, excluded.known_until)";

/// Whether others may count failures until the end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// They wait.
    Locked,
    /// They may: nothing is written.
    Free,
}

/// Where the state of a guard is found, if there is a guard.
#[derive(Clone, Copy)]
pub(crate) struct Watch(Option<Slots>);

#[derive(Clone, Copy)]
struct Slots {
    failures: Slot,
    known_client: Slot,
}

/// Counters that are there, by key.
type Counters = Vec<(LimitKey, Failures)>;

impl Watch {
    /// Reads the state of a guard.
    pub(crate) fn over(script: &mut Script, guard: Option<&SignInGuard>, hold: Hold) -> Self {
        let slots = guard.map(|guard| {
            let keys = [guard.pair, guard.account].map(|key| Some(key.as_bytes().to_vec())).to_vec();
            let sql = if hold == Hold::Locked { LOCK_FAILURES } else { FIND_FAILURES };
            Slots {
                failures: script.add(sql, vec![Value::Blobs(keys)]),
                known_client: script.add(FIND_KNOWN_CLIENT, values![&guard.known_client]),
            }
        });
        Self(slots)
    }

    /// Whether a password may be checked now. Without a guard it may.
    pub(crate) fn judge(
        self,
        answers: &Answers,
        guard: Option<&SignInGuard>,
        now: Timestamp,
    ) -> Fallible<Option<Limited>> {
        let (Some(slots), Some(guard)) = (self.0, guard) else { return Ok(None) };
        let counters = read_counters(answers, slots.failures)?;
        let known_until =
            answers.find(slots.known_client, |row| Cells::new(row, "known_clients").time("known_until"))?;
        let is_known = known_until.is_some_and(|until| now < until);
        let (pair, account) = (failures_of(&counters, &guard.pair), failures_of(&counters, &guard.account));
        Ok(guess_guard::limited(&pair, &account, &guard.account_policy, is_known, now))
    }

    /// Counts a failure for the pair and for the account.
    pub(crate) fn count_failure(
        self,
        answers: &Answers,
        writes: &mut Script,
        guard: &SignInGuard,
        now: Timestamp,
    ) -> Fallible<()> {
        let Some(slots) = self.0 else { return Ok(()) };
        let counters = read_counters(answers, slots.failures)?;
        let mut counted = [(guard.pair, guard.pair_policy), (guard.account, guard.account_policy)];
        counted.sort_unstable_by_key(|(key, _)| *key);
        for (key, policy) in counted {
            count(writes, &counters, &key, &policy, now);
        }
        Ok(())
    }
}

/// Forgets the pair's failures.
pub(crate) fn forgive(writes: &mut Script, guard: &SignInGuard) {
    writes.add(DELETE_FAILURES, values![&guard.pair]);
}

/// Remembers the client as one from which the account signed in.
pub(crate) fn know_client(writes: &mut Script, guard: &SignInGuard, now: Timestamp) {
    writes.add(SAVE_KNOWN_CLIENT, values![&guard.known_client, now.plus(guard.known_for)]);
}

/// [`forgive`], where this session was opened.
pub(crate) fn forgive_if_opened(writes: &mut Script, guard: &SignInGuard, session: SessionId) {
    writes.add(DELETE_FAILURES_IF_OPENED, values![&guard.pair, session]);
}

/// [`know_client`], where this session was opened.
pub(crate) fn know_client_if_opened(
    writes: &mut Script,
    guard: &SignInGuard,
    now: Timestamp,
    session: SessionId,
) {
    let known_until = now.plus(guard.known_for);
    writes.add(SAVE_KNOWN_CLIENT_IF_OPENED, values![&guard.known_client, known_until, session]);
}

fn count(writes: &mut Script, counters: &Counters, key: &LimitKey, policy: &FailurePolicy, now: Timestamp) {
    let is_new = counters.iter().all(|(counter, _)| counter != key);
    let failures = failures_of(counters, key).and_one_more(policy, now);
    let remembered_until = guess_guard::remembered_until(&failures, policy);
    let values = values![key, failures.count, failures.since, failures.blocked_until, remembered_until];
    writes.add(if is_new { CREATE_FAILURES } else { SAVE_FAILURES }, values);
}

fn failures_of(counters: &Counters, key: &LimitKey) -> Failures {
    let found = counters.iter().find(|(counter, _)| counter == key);
    found.map(|(_, failures)| *failures).unwrap_or_default()
}

fn read_counters(answers: &Answers, slot: Slot) -> Fallible<Counters> {
    answers.list(slot, |row| {
        let mut cells = Cells::new(row, "limit_failures");
        let key = LimitKey::from_bytes(cells.array("key")?);
        let failures = Failures {
            count: cells.count("failures")?,
            since: cells.time("since")?,
            blocked_until: cells.time("blocked_until")?,
        };
        Ok((key, failures))
    })
}
