//! Refresh tokens: finding the session of one, and doing what the verdict on it says. The verdict is the domain's.

use std::time::Duration;

use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::refresh::{RefreshState, RefreshVerdict, Retired};
use latchkey_domain::session::Session;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;
use latchkey_store::{LiveSession, RefreshOutcome, RefreshSession};
use rusqlite::{Connection, Row, params};

use crate::accounts::{self, account_columns, account_tables};
use crate::audit;
use crate::errors::Fallible;
use crate::rows::{Cells, Id};
use crate::sessions::{end_own, read_session, session_columns};
use crate::statements::{execute, find};

const FIND_BY_FAMILY: &str = concat!(
    "SELECT ",
    account_columns!(),
    ", ",
    session_columns!(),
    ", s.current_hash, s.retired, s.ended_at, s.sealed_successor FROM sessions AS s JOIN ",
    account_tables!(),
    " WHERE s.family_hash = ?1 AND u.id = s.user_id"
);
const ROTATE: &str = "
    UPDATE sessions SET current_hash = ?2, retired = ?3, sealed_successor = ?4, sealed_until = ?5,
        idle_expires_at = ?6, last_seen_at = ?7, address = ?8, user_agent = ?9
    WHERE id = ?1";

/// A session as its refresh tokens see it.
struct Found {
    user: User,
    session: Session,
    state: RefreshState,
    sealed: Option<Vec<u8>>,
}

impl Found {
    fn judge(&self, presented: &TokenHash, grace: Duration, now: Timestamp) -> RefreshVerdict {
        if self.user.is_banned() {
            return RefreshVerdict::Refuse;
        }
        self.state.judge(presented, now, grace)
    }
}

/// Whether the token could refresh its session, or just did.
pub(crate) fn is_good(
    conn: &Connection,
    family: TokenHash,
    presented: TokenHash,
    grace: Duration,
    now: Timestamp,
) -> Fallible<bool> {
    Ok(find_good(conn, family, presented, grace, now)?.is_some())
}

/// The session of such a token, and whose it is.
pub(crate) fn find_good(
    conn: &Connection,
    family: TokenHash,
    presented: TokenHash,
    grace: Duration,
    now: Timestamp,
) -> Fallible<Option<(UserId, SessionId)>> {
    let is_good = |found: &Found| {
        matches!(found.judge(&presented, grace, now), RefreshVerdict::Rotate | RefreshVerdict::SameSuccessor)
    };
    let found = find_by_family(conn, family)?.filter(is_good);
    Ok(found.map(|found| (found.user.id, found.session.id)))
}

/// Judges a token and does what the verdict says.
pub(crate) fn refresh(conn: &Connection, refresh: RefreshSession) -> Fallible<RefreshOutcome> {
    let Some(found) = find_by_family(conn, refresh.family)? else {
        return Ok(RefreshOutcome::Refused);
    };
    match found.judge(&refresh.presented, refresh.grace, refresh.now) {
        RefreshVerdict::Rotate => rotate(conn, found, refresh),
        RefreshVerdict::SameSuccessor => Ok(same_successor(found)),
        RefreshVerdict::Refuse => Ok(RefreshOutcome::Refused),
        RefreshVerdict::Revoke => {
            let (user_id, id) = (found.user.id, found.session.id);
            end_own(conn, user_id, id, refresh.now)?;
            audit::record_in(conn, refresh.reuse_event, user_id, id)?;
            Ok(RefreshOutcome::Revoked)
        }
    }
}

fn rotate(conn: &Connection, found: Found, refresh: RefreshSession) -> Fallible<RefreshOutcome> {
    let RefreshSession { successor, sealed_successor, grace, idle_expires_at, client, now, .. } = refresh;
    let retired = found.state.retire_current(now, grace);
    let params = params![
        found.session.id.blob(),
        successor.as_bytes(),
        Retired::encode_all(&retired),
        sealed_successor,
        now.plus(grace).as_millis(),
        idle_expires_at.as_millis(),
        now.as_millis(),
        client.address.to_string(),
        client.user_agent,
    ];
    execute(conn, ROTATE, params)?;
    let session = Session { last_seen_at: now, idle_expires_at, client, ..found.session };
    Ok(RefreshOutcome::Rotated(Box::new(LiveSession { session, user: found.user })))
}

/// Without the sealed successor the grace is over by the clock of whoever wiped it.
fn same_successor(found: Found) -> RefreshOutcome {
    match found.sealed {
        Some(sealed) => {
            let live = Box::new(LiveSession { session: found.session, user: found.user });
            RefreshOutcome::SameSuccessor { sealed, live }
        }
        None => RefreshOutcome::Refused,
    }
}

fn find_by_family(conn: &Connection, family: TokenHash) -> Fallible<Option<Found>> {
    find(conn, FIND_BY_FAMILY, params![family.as_bytes()], read_found)
}

fn read_found(row: &Row<'_>) -> Fallible<Found> {
    let mut cells = Cells::new(row, "users");
    let user = accounts::read_account(&mut cells)?.user;
    let session = read_session(cells.of("sessions"))?;
    let current = cells.hash("current_hash")?;
    let retired = Retired::decode_all(&cells.bytes("retired")?).ok_or_else(|| cells.corrupt("retired"))?;
    let ended_at = cells.maybe_time("ended_at")?;
    let sealed = cells.maybe_bytes("sealed_successor")?;
    let state = RefreshState {
        current,
        retired,
        idle_expires_at: session.idle_expires_at,
        absolute_expires_at: session.absolute_expires_at,
        ended_at,
    };
    Ok(Found { user, session, state, sealed })
}
