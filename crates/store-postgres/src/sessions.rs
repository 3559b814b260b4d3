//! Sessions: opening, finding, listing, ending. Sign-in with its guards is in [`crate::sign_in`], refresh tokens are in
//! [`crate::refresh`].

use std::time::Duration;

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::limits::{LimitKey, Limited, Take};
use latchkey_domain::password::PasswordHash;
use latchkey_domain::session::{AuthMethod, NewSession, Session};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    BeginPasswordChange, BeginSignIn, ChangePassword, EndedSession, FailedSignIn, LiveSession, OwnProfile,
    RefreshOutcome, RefreshSession, Sessions, SignIn, SignInGuard, SignInOutcome, StoreResult,
};
use tokio_postgres::Row;

use crate::accounts::{self, account_columns, account_tables};
use crate::audit::record_event_where;
use crate::change_password::{begin_password_change, change_password};
use crate::errors::Fallible;
use crate::profiles::profile_columns;
use crate::rows::Cells;
use crate::script::{Answers, Script, Slot};
use crate::store::PostgresStore;
use crate::values::{Value, values};
use crate::{audit, profiles, refresh, sign_in};

/// What [`read_session`] reads, in its order.
macro_rules! session_columns {
    () => {
        "s.id, s.user_id, s.created_at, s.last_seen_at, s.idle_expires_at, s.absolute_expires_at, s.method,
        s.address, s.user_agent"
    };
}
/// Sessions that live at the moment of a parameter.
macro_rules! living {
    ($now:literal) => {
        concat!("s.ended_at IS NULL AND s.idle_expires_at > ", $now, " AND s.absolute_expires_at > ", $now)
    };
}
/// Ends the living sessions of the tenth parameter's user at the moment of the eleventh, and writes the event of the
/// first nine if there were any. Answers how many.
macro_rules! end_and_record {
    ($which:literal) => {
        concat!(
            "WITH ended AS (
                UPDATE sessions AS s SET ended_at = $11, sealed_successor = NULL, sealed_until = NULL
                WHERE s.user_id = $10 AND ",
            $which,
            " AND ",
            living!("$11"),
            " RETURNING s.id), recorded AS (",
            record_event_where!("EXISTS (SELECT 1 FROM ended)"),
            ") SELECT count(*) FROM ended"
        )
    };
}
pub(crate) use {living, session_columns};

/// Most sessions of a user that are listed.
const LISTED: u32 = 1_000;

const OPEN_SESSION: &str = "
    INSERT INTO sessions (id, user_id, family_hash, current_hash, retired, sealed_successor, sealed_until, method,
        address, user_agent, created_at, last_seen_at, idle_expires_at, absolute_expires_at, ended_at)
    VALUES ($1, $2, $3, $4, '', NULL, NULL, $5, $6, $7, $8, $8, $9, $10, NULL)";
/// The rule of [`latchkey_domain::guess_guard::limited`], but for a clock that stepped back.
const OPEN_SESSION_PLAINLY: &str = "
    INSERT INTO sessions (id, user_id, family_hash, current_hash, retired, sealed_successor, sealed_until, method,
        address, user_agent, created_at, last_seen_at, idle_expires_at, absolute_expires_at, ended_at)
    SELECT $1, u.id, $3, $4, '', NULL, NULL, $5, $6, $7, $8, $8, $9, $10, NULL
    FROM users AS u JOIN credentials AS c ON c.user_id = u.id AND c.kind = 'password' AND c.data = $11
    WHERE u.id = $2 AND u.banned_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM limit_failures WHERE key = $12 AND blocked_until > $8)
        AND (NOT EXISTS (SELECT 1 FROM limit_failures WHERE key = $13 AND failures >= $14 AND since >= $15)
            OR EXISTS (SELECT 1 FROM known_clients WHERE key = $16 AND known_until > $8))";
const PEND_NO_MORE_IF_OPENED: &str = "
    WITH shown AS (
        UPDATE profiles AS p SET searchable = TRUE FROM users AS u
        WHERE p.user_id = $1 AND u.id = $1 AND u.pending AND EXISTS (SELECT 1 FROM sessions WHERE id = $3))
    UPDATE users SET pending = FALSE, updated_at = greatest(updated_at, $2)
    WHERE id = $1 AND pending AND EXISTS (SELECT 1 FROM sessions WHERE id = $3)";
pub(crate) const FIND_LIVE: &str = concat!(
    "SELECT ",
    account_columns!(),
    ", ",
    session_columns!(),
    " FROM sessions AS s CROSS JOIN ",
    account_tables!(),
    " WHERE s.id = $1 AND u.id = s.user_id AND u.banned_at IS NULL AND ",
    living!("$2")
);
const FIND_OWNER: &str = concat!(
    "SELECT s.user_id FROM sessions AS s JOIN users AS u ON u.id = s.user_id
    WHERE s.id = $1 AND u.banned_at IS NULL AND ",
    living!("$2")
);
const FIND_OWN_PROFILE: &str = concat!(
    "SELECT s.user_id, p.user_id IS NOT NULL, ",
    profile_columns!(),
    " FROM sessions AS s JOIN users AS u ON u.id = s.user_id LEFT JOIN profiles AS p ON p.user_id = s.user_id
    WHERE s.id = $1 AND u.banned_at IS NULL AND ",
    living!("$2")
);
const LIST_LIVE: &str = concat!(
    "SELECT ",
    session_columns!(),
    " FROM sessions AS s WHERE s.user_id = $1 AND ",
    living!("$2"),
    " ORDER BY s.created_at DESC, s.id DESC LIMIT $3"
);
const END_ALL: &str = concat!(
    "UPDATE sessions AS s SET ended_at = $2, sealed_successor = NULL, sealed_until = NULL
    WHERE s.user_id = $1 AND ",
    living!("$2")
);
const END_OTHERS: &str = concat!(
    "UPDATE sessions AS s SET ended_at = $2, sealed_successor = NULL, sealed_until = NULL
    WHERE s.user_id = $1 AND s.id <> $3 AND ",
    living!("$2")
);
const END_OWN_AND_RECORD: &str = end_and_record!("s.id = $12");
const END_OTHERS_AND_RECORD: &str = end_and_record!("s.id <> $12");
const PEND_NO_MORE: &str = "
    UPDATE users SET pending = FALSE, updated_at = greatest(updated_at, $2) WHERE id = $1";

#[async_trait]
impl Sessions for PostgresStore {
    async fn begin_sign_in(
        &self,
        email: &EmailKey,
        takes: &[Take],
        guard: Option<&SignInGuard>,
        now: Timestamp,
    ) -> StoreResult<BeginSignIn> {
        sign_in::begin(self, email, takes, guard, now).await
    }

    async fn begin_password_change(
        &self,
        session: SessionId,
        email: &EmailKey,
        takes: &[Take],
        guard: Option<&SignInGuard>,
        now: Timestamp,
    ) -> StoreResult<BeginPasswordChange> {
        begin_password_change(self, session, email, takes, guard, now).await
    }

    async fn sign_in(&self, sign_in: SignIn) -> StoreResult<SignInOutcome> {
        sign_in::open_after_password(self, &sign_in).await
    }

    async fn fail_sign_in(&self, failed: FailedSignIn) -> StoreResult<Option<Limited>> {
        sign_in::fail(self, &failed).await
    }

    async fn find_live_session(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<LiveSession>> {
        Ok(self.ask(FIND_LIVE, values![id, now]).await?.find(read_live)?)
    }

    async fn find_session_owner(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<UserId>> {
        let found = self.ask(FIND_OWNER, values![id, now]).await?;
        Ok(found.find(|row| Cells::new(row, "sessions").id("user_id"))?)
    }

    async fn find_session_profile(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<OwnProfile>> {
        Ok(self.ask(FIND_OWN_PROFILE, values![id, now]).await?.find(read_own_profile)?)
    }

    async fn is_refresh_token_good(
        &self,
        family: TokenHash,
        presented: TokenHash,
        grace: Duration,
        now: Timestamp,
    ) -> StoreResult<bool> {
        refresh::is_good(self, family, presented, grace, now).await
    }

    async fn refresh_session(&self, refresh: RefreshSession) -> StoreResult<RefreshOutcome> {
        refresh::refresh(self, &refresh).await
    }

    async fn list_sessions(&self, user_id: UserId, now: Timestamp) -> StoreResult<Vec<Session>> {
        let found = self.ask(LIST_LIVE, values![user_id, now, LISTED]).await?;
        Ok(found.list(|row| read_session(&mut Cells::new(row, "sessions")))?)
    }

    async fn end_sessions(&self, which: EndedSession, event: AuditEvent, now: Timestamp) -> StoreResult<u64> {
        match which {
            EndedSession::Own(user_id, id) => {
                let mut writes = Script::default();
                let ended = end_own_and_record(&mut writes, user_id, id, event, now)?;
                Ok(count_ended(&self.write(&writes).await?, ended)?)
            }
            EndedSession::OthersOf(user_id, id) => {
                let mut writes = Script::default();
                // Several rows: whoever else ends several of this user waits here, not amid them.
                accounts::lock_by_id(&mut writes, user_id);
                let values = end_values(user_id, id, event, now)?;
                let ended = writes.add(END_OTHERS_AND_RECORD, values);
                Ok(count_ended(&self.write(&writes).await?, ended)?)
            }
            EndedSession::OfRefreshToken { family, presented, grace } => {
                refresh::end_by_token(self, family, presented, grace, &event, now).await
            }
        }
    }

    async fn change_password(&self, change: ChangePassword) -> StoreResult<SignInOutcome> {
        change_password(self, &change).await
    }
}

/// Reads whose a session is that lives.
pub(crate) fn find_owner(script: &mut Script, id: SessionId, now: Timestamp) -> Slot {
    script.add(FIND_OWNER, values![id, now])
}

/// Whose a session is.
pub(crate) fn owner(answers: &Answers, slot: Slot) -> Fallible<Option<UserId>> {
    answers.find(slot, |row| Cells::new(row, "sessions").id("user_id"))
}

/// A pending account that gets a session is pending no more.
pub(crate) fn pend_no_more(writes: &mut Script, user_id: UserId, now: Timestamp) {
    writes.add(PEND_NO_MORE, values![user_id, now]);
    profiles::show_or_hide(writes, user_id);
}

/// Writes a new session.
pub(crate) fn open(writes: &mut Script, user_id: UserId, session: &NewSession) {
    writes.add(OPEN_SESSION, new_values(user_id, session));
}

/// Writes a new session in the plain case of a sign-in: the user is not banned, the password is the one that was checked,
/// and no failures stand in the way; then the account is pending no more. Answers whether by the rows affected.
pub(crate) fn open_plainly(
    writes: &mut Script,
    user_id: UserId,
    session: &NewSession,
    checked: &PasswordHash,
    guard: Option<&SignInGuard>,
) -> Slot {
    let (id, now) = (session.id, session.created_at);
    let key = |key: Option<&LimitKey>| Value::Bytes(key.map(|key| key.as_bytes().to_vec()));
    let policy = guard.map(|guard| guard.account_policy);
    let mut values = new_values(user_id, session);
    values.extend(values![
        checked.as_str(),
        key(guard.map(|guard| &guard.pair)),
        key(guard.map(|guard| &guard.account)),
        policy.map_or(u32::MAX, |policy| policy.threshold),
        policy.map_or(now, |policy| now.minus(policy.window)),
        key(guard.map(|guard| &guard.known_client)),
    ]);
    let opened = writes.add(OPEN_SESSION_PLAINLY, values);
    writes.add(PEND_NO_MORE_IF_OPENED, values![user_id, now, id]);
    opened
}

fn new_values(user_id: UserId, session: &NewSession) -> Vec<Value> {
    values![
        session.id,
        user_id,
        &session.family,
        &session.refresh,
        session.method.as_str(),
        session.client.address.to_string(),
        session.client.user_agent.clone(),
        session.created_at,
        session.idle_expires_at,
        session.absolute_expires_at,
    ]
}

/// Ends a living session of the user, and writes the event if it was one.
pub(crate) fn end_own_and_record(
    writes: &mut Script,
    user_id: UserId,
    id: SessionId,
    event: AuditEvent,
    now: Timestamp,
) -> Fallible<Slot> {
    Ok(writes.add(END_OWN_AND_RECORD, end_values(user_id, id, event, now)?))
}

fn end_values(user_id: UserId, id: SessionId, event: AuditEvent, now: Timestamp) -> Fallible<Vec<Value>> {
    let event = AuditEvent { user_id: Some(user_id), session_id: Some(id), ..event };
    let mut values = audit::event_values(event)?;
    values.extend(values![user_id, now, id]);
    Ok(values)
}

/// How many sessions ended.
pub(crate) fn count_ended(answers: &Answers, slot: Slot) -> Fallible<u64> {
    let count = answers.find(slot, |row| Cells::new(row, "sessions").count("id"))?;
    Ok(u64::from(count.unwrap_or_default()))
}

/// Ends the living sessions of the user but one.
pub(crate) fn end_others(writes: &mut Script, user_id: UserId, kept: SessionId, now: Timestamp) {
    writes.add(END_OTHERS, values![user_id, now, kept]);
}

/// Ends all living sessions of the user.
pub(crate) fn end_all_of(writes: &mut Script, user_id: UserId, now: Timestamp) -> Slot {
    writes.add(END_ALL, values![user_id, now])
}

fn read_live(row: &Row) -> Fallible<LiveSession> {
    let mut cells = Cells::new(row, "users");
    let user = accounts::read_account(&mut cells)?.user;
    let session = read_session(cells.of("sessions"))?;
    Ok(LiveSession { session, user })
}

fn read_own_profile(row: &Row) -> Fallible<OwnProfile> {
    let mut cells = Cells::new(row, "sessions");
    let user_id = cells.id("user_id")?;
    let has_profile = cells.flag("has_profile")?;
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
