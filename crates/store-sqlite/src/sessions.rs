//! Sessions: sign-in with its guards, finding, listing, ending. Refresh tokens are in [`crate::refresh`].

use std::time::Duration;

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::limits::{Limited, Take};
use latchkey_domain::session::{AuthMethod, NewSession, Session};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    BeginPasswordChange, BeginSignIn, ChangePassword, EndedSession, FailedSignIn, LiveSession, OwnProfile,
    RefreshOutcome, RefreshSession, Sessions, SignIn, SignInCandidate, SignInGuard, SignInOutcome,
    StoreResult,
};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};

use crate::accounts::{self, account_columns, account_tables};
use crate::change_password::{begin_password_change, change_password};
use crate::errors::Fallible;
use crate::limits::take_all;
use crate::profiles::profile_columns;
use crate::rows::{Cells, Id};
use crate::statements::{execute, find, list};
use crate::store::SqliteStore;
use crate::{audit, guards, profiles, refresh};

/// What [`read_session`] reads, in its order.
macro_rules! session_columns {
    () => {
        "s.id, s.user_id, s.created_at, s.last_seen_at, s.idle_expires_at, s.absolute_expires_at, s.method,
        s.address, s.user_agent"
    };
}
/// Sessions that live at the moment of the second parameter.
macro_rules! living {
    () => {
        "s.ended_at IS NULL AND s.idle_expires_at > ?2 AND s.absolute_expires_at > ?2"
    };
}
pub(crate) use session_columns;

/// Most sessions of a user that are listed.
const LISTED: u32 = 1_000;

const OPEN_SESSION: &str = "
    INSERT INTO sessions (id, user_id, family_hash, current_hash, retired, sealed_successor, sealed_until, method,
        address, user_agent, created_at, last_seen_at, idle_expires_at, absolute_expires_at, ended_at)
    VALUES (?1, ?2, ?3, ?4, x'', NULL, NULL, ?5, ?6, ?7, ?8, ?8, ?9, ?10, NULL)";
pub(crate) const FIND_LIVE: &str = concat!(
    "SELECT ",
    account_columns!(),
    ", ",
    session_columns!(),
    " FROM sessions AS s JOIN ",
    account_tables!(),
    " WHERE s.id = ?1 AND u.id = s.user_id AND u.banned_at IS NULL AND ",
    living!()
);
const FIND_OWNER: &str = concat!(
    "SELECT s.user_id FROM sessions AS s JOIN users AS u ON u.id = s.user_id
    WHERE s.id = ?1 AND u.banned_at IS NULL AND ",
    living!()
);
const FIND_OWN_PROFILE: &str = concat!(
    "SELECT owner, ",
    profile_columns!(),
    " FROM (
        SELECT s.user_id AS owner FROM sessions AS s JOIN users AS u ON u.id = s.user_id
        WHERE s.id = ?1 AND u.banned_at IS NULL AND ",
    living!(),
    ") LEFT JOIN profiles ON user_id = owner"
);
const LIST_LIVE: &str = concat!(
    "SELECT ",
    session_columns!(),
    " FROM sessions AS s WHERE s.user_id = ?1 AND ",
    living!(),
    " ORDER BY s.created_at DESC, s.id DESC LIMIT ?3"
);
const END_ALL: &str = concat!(
    "UPDATE sessions AS s SET ended_at = ?2, sealed_successor = NULL, sealed_until = NULL
    WHERE s.user_id = ?1 AND ",
    living!()
);
const END_OTHERS: &str = concat!(
    "UPDATE sessions AS s SET ended_at = ?2, sealed_successor = NULL, sealed_until = NULL
    WHERE s.user_id = ?1 AND s.id <> ?3 AND ",
    living!()
);
const END_OWN: &str = concat!(
    "UPDATE sessions AS s SET ended_at = ?2, sealed_successor = NULL, sealed_until = NULL
    WHERE s.user_id = ?1 AND s.id = ?3 AND ",
    living!()
);
const PEND_NO_MORE: &str = "
    UPDATE users SET pending = 0, updated_at = max(updated_at, ?2) WHERE id = ?1 AND pending = 1";

#[async_trait]
impl Sessions for SqliteStore {
    async fn begin_sign_in(
        &self,
        email: &EmailKey,
        takes: &[Take],
        guard: Option<&SignInGuard>,
        now: Timestamp,
    ) -> StoreResult<BeginSignIn> {
        if takes.is_empty() {
            return self.read(|conn| begin_sign_in(conn, email, takes, guard, now));
        }
        let (email, takes, guard) = (email.clone(), takes.to_vec(), guard.cloned());
        self.write(move |conn| begin_sign_in(conn, &email, &takes, guard.as_ref(), now)).await
    }

    async fn begin_password_change(
        &self,
        session: SessionId,
        email: &EmailKey,
        takes: &[Take],
        guard: Option<&SignInGuard>,
        now: Timestamp,
    ) -> StoreResult<BeginPasswordChange> {
        let (email, takes, guard) = (email.clone(), takes.to_vec(), guard.cloned());
        self.write(move |conn| begin_password_change(conn, session, &email, &takes, guard.as_ref(), now))
            .await
    }

    async fn sign_in(&self, sign_in: SignIn) -> StoreResult<SignInOutcome> {
        self.write(move |conn| open_after_password(conn, sign_in)).await
    }

    async fn fail_sign_in(&self, failed: FailedSignIn) -> StoreResult<Option<Limited>> {
        self.write(move |conn| fail_sign_in(conn, failed)).await
    }

    async fn find_live_session(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<LiveSession>> {
        self.read(|conn| find(conn, FIND_LIVE, params![id.blob(), now.as_millis()], read_live))
    }

    async fn find_session_owner(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<UserId>> {
        self.read(|conn| find_owner(conn, id, now))
    }

    async fn find_session_profile(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<OwnProfile>> {
        self.read(|conn| find(conn, FIND_OWN_PROFILE, params![id.blob(), now.as_millis()], read_own_profile))
    }

    async fn is_refresh_token_good(
        &self,
        family: TokenHash,
        presented: TokenHash,
        grace: Duration,
        now: Timestamp,
    ) -> StoreResult<bool> {
        self.read(|conn| refresh::is_good(conn, family, presented, grace, now))
    }

    async fn refresh_session(&self, refresh: RefreshSession) -> StoreResult<RefreshOutcome> {
        self.write(move |conn| refresh::refresh(conn, refresh)).await
    }

    async fn list_sessions(&self, user_id: UserId, now: Timestamp) -> StoreResult<Vec<Session>> {
        self.read_long(move |conn| {
            let params = params![user_id.blob(), now.as_millis(), LISTED];
            list(conn, LIST_LIVE, params, |row| read_session(&mut Cells::new(row, "sessions")))
        })
        .await
    }

    async fn end_sessions(&self, which: EndedSession, event: AuditEvent, now: Timestamp) -> StoreResult<u64> {
        self.write(move |conn| end_sessions(conn, which, event, now)).await
    }

    async fn change_password(&self, change: ChangePassword) -> StoreResult<SignInOutcome> {
        self.write(move |conn| change_password(conn, change)).await
    }
}

/// Whose a session is that lives.
pub(crate) fn find_owner(conn: &Connection, id: SessionId, now: Timestamp) -> Fallible<Option<UserId>> {
    find(conn, FIND_OWNER, params![id.blob(), now.as_millis()], |row| {
        Cells::new(row, "sessions").id("user_id")
    })
}

fn begin_sign_in(
    conn: &Connection,
    email: &EmailKey,
    takes: &[Take],
    guard: Option<&SignInGuard>,
    now: Timestamp,
) -> Fallible<BeginSignIn> {
    if let Err(limited) = take_all(conn, takes, now)? {
        return Ok(BeginSignIn::Limited(limited));
    }
    if let Some(limited) = judge(conn, guard, now)? {
        return Ok(BeginSignIn::Limited(limited));
    }
    let account = accounts::find_by_key_evenly(conn, email)?;
    let candidate = account.map(|account| SignInCandidate { user: account.user, password: account.password });
    Ok(BeginSignIn::Candidate(candidate.map(Box::new)))
}

fn open_after_password(conn: &Connection, sign_in: SignIn) -> Fallible<SignInOutcome> {
    let SignIn { user_id, checked, rehashed, session, guard, event } = sign_in;
    let now = session.created_at;
    if let Some(limited) = judge(conn, guard.as_ref(), now)? {
        return Ok(SignInOutcome::Limited(limited));
    }
    let account = accounts::find_by_id(conn, user_id)?;
    let is_as_checked = account.is_some_and(|account| {
        !account.user.is_banned() && account.password.is_some_and(|password| password == checked)
    });
    if !is_as_checked {
        return Ok(SignInOutcome::Gone);
    }
    if let Some(rehashed) = &rehashed {
        accounts::save_password(conn, user_id, rehashed, now)?;
    }
    pend_no_more(conn, user_id, now)?;
    open(conn, user_id, &session)?;
    if let Some(guard) = &guard {
        guards::forgive(conn, guard)?;
        guards::know_client(conn, guard, now)?;
    }
    audit::record_in(conn, event, user_id, session.id)?;
    Ok(SignInOutcome::Opened(Box::new(accounts::user_that_is(conn, user_id)?)))
}

/// A failure counts even where the limit was used up before it: it was a guess.
fn fail_sign_in(conn: &Connection, failed: FailedSignIn) -> Fallible<Option<Limited>> {
    let FailedSignIn { guard, event, now } = failed;
    let limited = judge(conn, guard.as_ref(), now)?;
    if let Some(guard) = &guard {
        guards::count_failure(conn, guard, now)?;
    }
    audit::record(conn, event)?;
    Ok(limited)
}

fn judge(conn: &Connection, guard: Option<&SignInGuard>, now: Timestamp) -> Fallible<Option<Limited>> {
    guard.map_or(Ok(None), |guard| guards::judge(conn, guard, now))
}

/// An account that gets a session is pending no more.
pub(crate) fn pend_no_more(conn: &Connection, user_id: UserId, now: Timestamp) -> Fallible<()> {
    if execute(conn, PEND_NO_MORE, params![user_id.blob(), now.as_millis()])? > 0 {
        profiles::show_or_hide(conn, user_id)?;
    }
    Ok(())
}

/// Writes a new session.
pub(crate) fn open(conn: &Connection, user_id: UserId, session: &NewSession) -> Fallible<()> {
    let params = params![
        session.id.blob(),
        user_id.blob(),
        session.family.as_bytes(),
        session.refresh.as_bytes(),
        session.method.as_str(),
        session.client.address.to_string(),
        session.client.user_agent,
        session.created_at.as_millis(),
        session.idle_expires_at.as_millis(),
        session.absolute_expires_at.as_millis(),
    ];
    execute(conn, OPEN_SESSION, params)?;
    Ok(())
}

fn end_sessions(conn: &Connection, which: EndedSession, event: AuditEvent, now: Timestamp) -> Fallible<u64> {
    let (ended, user_id, session_id) = match which {
        EndedSession::Own(user_id, id) => (end_own(conn, user_id, id, now)?, user_id, id),
        EndedSession::OthersOf(user_id, id) => (end_others(conn, user_id, id, now)?, user_id, id),
        EndedSession::OfRefreshToken { family, presented, grace } => {
            match refresh::find_good(conn, family, presented, grace, now)? {
                Some((user_id, id)) => (end_own(conn, user_id, id, now)?, user_id, id),
                None => return Ok(0),
            }
        }
    };
    if ended > 0 {
        audit::record_in(conn, event, user_id, session_id)?;
    }
    Ok(ended)
}

/// Ends a living session of the user; answers how many that were.
pub(crate) fn end_own(conn: &Connection, user_id: UserId, id: SessionId, now: Timestamp) -> Fallible<u64> {
    Ok(execute(conn, END_OWN, params![user_id.blob(), now.as_millis(), id.blob()])? as u64)
}

/// Ends the living sessions of the user but one; answers how many.
pub(crate) fn end_others(
    conn: &Connection,
    user_id: UserId,
    kept: SessionId,
    now: Timestamp,
) -> Fallible<u64> {
    Ok(execute(conn, END_OTHERS, params![user_id.blob(), now.as_millis(), kept.blob()])? as u64)
}

/// Ends all living sessions of the user; answers how many.
pub(crate) fn end_all_of(conn: &Connection, user_id: UserId, now: Timestamp) -> Fallible<u64> {
    Ok(execute(conn, END_ALL, params![user_id.blob(), now.as_millis()])? as u64)
}

fn read_live(row: &Row<'_>) -> Fallible<LiveSession> {
    let mut cells = Cells::new(row, "users");
    let user = accounts::read_account(&mut cells)?.user;
    let session = read_session(cells.of("sessions"))?;
    Ok(LiveSession { session, user })
}

fn read_own_profile(row: &Row<'_>) -> Fallible<OwnProfile> {
    let mut cells = Cells::new(row, "sessions");
    let user_id = cells.id("user_id")?;
    let has_profile = row.get_ref(1)? != ValueRef::Null;
    let profile = has_profile.then(|| profiles::read_profile(cells.of("profiles")).map(Box::new));
    Ok(OwnProfile { user_id, profile: profile.transpose()? })
}

/// Reads the [`session_columns`] that come next.
pub(crate) fn read_session(cells: &mut Cells<'_>) -> Fallible<Session> {
    Ok(Session {
        id: cells.id("id")?,
        user_id: cells.id("user_id")?,
        created_at: cells.time("created_at")?,
        last_seen_at: cells.time("last_seen_at")?,
        idle_expires_at: cells.time("idle_expires_at")?,
        absolute_expires_at: cells.time("absolute_expires_at")?,
        method: cells.parsed("method", AuthMethod::from_stored)?,
        client: cells.client()?,
    })
}
