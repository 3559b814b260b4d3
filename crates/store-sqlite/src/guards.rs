//! The guess limits of password checks. Counting and judging are the domain's.

use latchkey_domain::guess_guard;
use latchkey_domain::limits::{FailurePolicy, Failures, LimitKey, Limited};
use latchkey_domain::time::Timestamp;
use latchkey_store::SignInGuard;
use rusqlite::{Connection, params};

use crate::errors::Fallible;
use crate::rows::Cells;
use crate::statements::{execute, find};

const FIND_FAILURES: &str = "SELECT failures, since, blocked_until FROM limit_failures WHERE key = ?1";
const SAVE_FAILURES: &str = "
    INSERT INTO limit_failures (key, failures, since, blocked_until, remembered_until) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (key) DO UPDATE SET failures = excluded.failures, since = excluded.since,
        blocked_until = excluded.blocked_until, remembered_until = excluded.remembered_until";
const DELETE_FAILURES: &str = "DELETE FROM limit_failures WHERE key = ?1";
const FIND_KNOWN_CLIENT: &str = "SELECT known_until FROM known_clients WHERE key = ?1";
const SAVE_KNOWN_CLIENT: &str = "
    INSERT INTO known_clients (key, known_until) VALUES (?1, ?2)
    ON CONFLICT (key) DO UPDATE SET known_until = max(known_until, excluded.known_until)";

/// Whether a password may be checked now.
pub(crate) fn judge(conn: &Connection, guard: &SignInGuard, now: Timestamp) -> Fallible<Option<Limited>> {
    let pair = find_failures(conn, &guard.pair)?;
    let account = find_failures(conn, &guard.account)?;
    let known_until = find(conn, FIND_KNOWN_CLIENT, params![guard.known_client.as_bytes()], |row| {
        Cells::new(row, "known_clients").time("known_until")
    })?;
    let is_known = known_until.is_some_and(|until| now < until);
    Ok(guess_guard::limited(&pair, &account, &guard.account_policy, is_known, now))
}

/// Counts a failure for the pair and for the account.
pub(crate) fn count_failure(conn: &Connection, guard: &SignInGuard, now: Timestamp) -> Fallible<()> {
    count(conn, &guard.pair, &guard.pair_policy, now)?;
    count(conn, &guard.account, &guard.account_policy, now)
}

/// Forgets the pair's failures.
pub(crate) fn forgive(conn: &Connection, guard: &SignInGuard) -> Fallible<()> {
    execute(conn, DELETE_FAILURES, params![guard.pair.as_bytes()])?;
    Ok(())
}

/// Remembers the client as one from which the account signed in.
pub(crate) fn know_client(conn: &Connection, guard: &SignInGuard, now: Timestamp) -> Fallible<()> {
    let until = now.plus(guard.known_for).as_millis();
    execute(conn, SAVE_KNOWN_CLIENT, params![guard.known_client.as_bytes(), until])?;
    Ok(())
}

fn count(conn: &Connection, key: &LimitKey, policy: &FailurePolicy, now: Timestamp) -> Fallible<()> {
    let failures = find_failures(conn, key)?.and_one_more(policy, now);
    let params = params![
        key.as_bytes(),
        failures.count,
        failures.since.as_millis(),
        failures.blocked_until.as_millis(),
        guess_guard::remembered_until(&failures, policy).as_millis(),
    ];
    execute(conn, SAVE_FAILURES, params)?;
    Ok(())
}

fn find_failures(conn: &Connection, key: &LimitKey) -> Fallible<Failures> {
    let found = find(conn, FIND_FAILURES, params![key.as_bytes()], |row| {
        let mut cells = Cells::new(row, "limit_failures");
        Ok(Failures {
            count: cells.count("failures")?,
            since: cells.time("since")?,
            blocked_until: cells.time("blocked_until")?,
        })
    })?;
    Ok(found.unwrap_or_default())
}
