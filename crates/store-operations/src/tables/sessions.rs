//! Table `sessions`: sessions and the state of their refresh tokens.

mod rows;

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::limits::LimitKey;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::refresh::{RefreshState, ReplacedToken};
use latchkey_domain::session::{MAX_LIVE_SESSIONS, NewSession, Session};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;
use latchkey_store::{LinkedIdentity, RefreshSession, SignInGuard, StoreResult};

pub(crate) use rows::{read_live, read_own_profile, read_refreshable, read_session};

use crate::bulk::{Table, columns};
use crate::form::{Results, Script, Slot, Value, statements, values};
use crate::tables::audit_events::{event_values, record_event_where};
use crate::tables::profiles::profile_columns;
use crate::tables::users::{account_columns, account_tables};

/// Columns read by [`read_session`], in order.
macro_rules! session_columns {
    () => {
        "s.id, s.user_id, s.created_at, s.last_seen_at, s.idle_expires_at, s.absolute_expires_at, s.method,
        s.address, s.user_agent"
    };
}
/// Condition: session `s` is live at the time of a parameter.
#[macro_export]
macro_rules! living {
    ($now:literal) => {
        concat!("s.ended_at IS NULL AND s.idle_expires_at > ", $now, " AND s.absolute_expires_at > ", $now)
    };
}
/// Ends live sessions of the first parameter's user at the time of the second.
macro_rules! end_where {
    ($which:literal) => {
        concat!(
            "UPDATE sessions AS s SET ended_at = $2, sealed_successor = NULL, sealed_until = NULL
            WHERE s.user_id = $1 AND ",
            $which,
            living!("$2")
        )
    };
}
/// Writes an event if the tenth parameter's user has such a live session at the time of the eleventh.
macro_rules! record_end_where {
    ($which:literal) => {
        record_event_where!(concat!(
            "EXISTS (SELECT 1 FROM sessions AS s WHERE s.user_id = $10 AND ",
            $which,
            living!("$11"),
            ")"
        ))
    };
}

pub const TABLE: Table = Table::new(
    "sessions",
    1,
    columns! {
        id id, id user_id, bytes family_hash, bytes current_hash, bytes retired, bytes sealed_successor,
        int sealed_until, text method, text address, text user_agent, int created_at, int last_seen_at,
        int idle_expires_at, int absolute_expires_at, int ended_at, text amr, int level, int auth_time,
        text identity_provider, text identity_issuer, text identity_subject
    },
);

statements! {
    /// Insert.
    OPEN_SESSION = "
        INSERT INTO sessions (id, user_id, family_hash, current_hash, retired, sealed_successor, sealed_until, method,
            address, user_agent, created_at, last_seen_at, idle_expires_at, absolute_expires_at, ended_at, amr, level,
            auth_time, identity_provider, identity_issuer, identity_subject)
        VALUES ($1, $2, $3, $4, $11, NULL, NULL, $5, $6, $7, $8, $8, $9, $10, NULL, $5, 1, $8, $12, $13, $14)";
    /// Conditional insert, the fast path of a sign-in. Repeats the rule of
    /// [`latchkey_domain::guess_limits::limited`], except for a clock that stepped back.
    OPEN_SESSION_PLAINLY = "
        INSERT INTO sessions (id, user_id, family_hash, current_hash, retired, sealed_successor, sealed_until, method,
            address, user_agent, created_at, last_seen_at, idle_expires_at, absolute_expires_at, ended_at, amr, level,
            auth_time)
        SELECT $1, u.id, $3, $4, $11, NULL, NULL, $5, $6, $7, $8, $8, $9, $10, NULL, $5, 1, $8
        FROM users AS u JOIN credentials AS c ON c.user_id = u.id AND c.kind = 'password' AND c.data = $12
        WHERE u.id = $2 AND u.banned_at IS NULL AND NOT u.pending
            AND NOT EXISTS (SELECT 1 FROM limit_failures WHERE key = $13 AND blocked_until > $8)
            AND (NOT EXISTS (SELECT 1 FROM limit_failures WHERE key = $14 AND failures >= $15 AND since >= $16)
                OR EXISTS (SELECT 1 FROM known_clients WHERE key = $17 AND known_until > $8))";
    /// Finds a live session with its user.
    FIND_LIVE: read find_live(id: SessionId, now: Timestamp) = concat!(
        "SELECT ",
        account_columns!(),
        ", ",
        session_columns!(),
        " FROM sessions AS s CROSS JOIN ",
        account_tables!(),
        " WHERE s.id = $1 AND u.id = s.user_id AND u.banned_at IS NULL AND ",
        living!("$2")
    );
    /// Finds the user of a live session.
    FIND_OWNER: read find_owner(id: SessionId, now: Timestamp) = concat!(
        "SELECT s.user_id FROM sessions AS s JOIN users AS u ON u.id = s.user_id
        WHERE s.id = $1 AND u.banned_at IS NULL AND ",
        living!("$2")
    );
    /// Live session whose user has an address.
    FIND_LIVE_OF_ADDRESS = concat!(
        "SELECT 1 FROM sessions AS s JOIN users AS u ON u.id = s.user_id
        WHERE s.id = $1 AND u.email_key = $3 AND u.banned_at IS NULL AND ",
        living!("$2")
    );
    /// Finds the user and profile of a live session.
    FIND_OWN_PROFILE: read find_own_profile(id: SessionId, now: Timestamp) = concat!(
        "SELECT s.user_id, ",
        profile_columns!(),
        " FROM sessions AS s JOIN users AS u ON u.id = s.user_id LEFT JOIN profiles AS p ON p.user_id = s.user_id
        WHERE s.id = $1 AND u.banned_at IS NULL AND ",
        living!("$2")
    );
    /// Lists the live sessions of a user, newest first.
    LIST_LIVE: read list_live(user_id: UserId, now: Timestamp, limit: u32) = concat!(
        "SELECT ",
        session_columns!(),
        " FROM sessions AS s WHERE s.user_id = $1 AND ",
        living!("$2"),
        " ORDER BY s.created_at DESC, s.id DESC LIMIT $3"
    );
    /// Locks a session.
    LOCK_SESSION: read lock(id: SessionId) = "SELECT 1 FROM sessions WHERE id = $1 FOR NO KEY UPDATE";
    /// Locks the live sessions of the user except one. The user must be locked.
    LOCK_OTHERS: read lock_others(user_id: UserId, kept: SessionId, now: Timestamp) [user_id, now, kept] = concat!(
        "SELECT 1 FROM sessions AS s WHERE s.user_id = $1 AND s.id <> $3 AND ",
        living!("$2"),
        " FOR NO KEY UPDATE"
    );
    /// Ends the least recently refreshed live sessions of a user, except the newly opened one and a number of
    /// others. Does nothing without the new one.
    END_SURPLUS = concat!(
        "UPDATE sessions SET ended_at = $2, sealed_successor = NULL, sealed_until = NULL
        WHERE ended_at IS NULL AND EXISTS (SELECT 1 FROM sessions WHERE id = $3) AND id IN (
            SELECT s.id FROM sessions AS s WHERE s.user_id = $1 AND s.id <> $3 AND ",
        living!("$2"),
        " ORDER BY s.last_seen_at DESC, s.id DESC LIMIT 1000 OFFSET $4)"
    );
    /// Ends all live sessions of the user.
    END_ALL: change end_all_of(user_id: UserId, now: Timestamp) = end_where!("");
    /// Ends one live session of a user.
    END_OWN = end_where!("s.id = $3 AND ");
    /// Ends the live sessions of the user except one.
    END_OTHERS: change end_others(user_id: UserId, kept: SessionId, now: Timestamp) [user_id, now, kept] =
        end_where!("s.id <> $3 AND ");
    /// Ends the live sessions of a user that an identity opened, except one. Sessions from before identities, or
    /// issuers, were stored have none.
    END_OPENED_BY = end_where!(
        "s.id <> $3 AND (s.identity_provider = $4 AND s.identity_subject = $5
            AND (s.identity_issuer IS NULL OR s.identity_issuer = $6)
            OR s.identity_provider IS NULL AND s.method = 'fed') AND "
    );
    /// Event of an end, if the session is live.
    RECORD_END_OF_OWN = record_end_where!("s.id = $12 AND ");
    /// Event of an end, if other sessions are live.
    RECORD_END_OF_OTHERS = record_end_where!("s.id <> $12 AND ");
    /// Locks only the session of a refresh token's family: a transaction that bans or deletes its user waits for
    /// it before it ends the session.
    LOCK_BY_FAMILY = "SELECT 1 FROM sessions WHERE family_hash = $1 FOR NO KEY UPDATE";
    /// Finds the session of a refresh token's family, live or not.
    FIND_BY_FAMILY: read find_by_family(family: &TokenHash) = concat!(
        "SELECT ",
        account_columns!(),
        ", ",
        session_columns!(),
        ", s.current_hash, s.retired, s.ended_at, s.sealed_successor FROM sessions AS s CROSS JOIN ",
        account_tables!(),
        " WHERE s.family_hash = $1 AND u.id = s.user_id"
    );
    /// Replaces the current refresh token.
    ROTATE = "
        UPDATE sessions SET current_hash = $2, retired = $3, sealed_successor = $4, sealed_until = $5,
            idle_expires_at = $6, last_seen_at = $7, address = $8, user_agent = $9
        WHERE id = $1";
}

/// A session, live or not, with its user and the state of its refresh tokens.
pub(crate) struct RefreshableSession {
    pub(crate) user: User,
    pub(crate) session: Session,
    pub(crate) state: RefreshState,
    /// Current refresh token, sealed under its predecessor; deleted some time after the grace period.
    pub(crate) sealed_successor: Option<Vec<u8>>,
}

/// User found by [`find_owner`].
pub(crate) fn owner(results: &Results<'_>, slot: Slot) -> StoreResult<Option<UserId>> {
    results.find(slot, |cells| cells.of("sessions").id("user_id"))
}

/// Inserts a session. The user must be locked.
pub(crate) fn open(writes: &mut Script, user_id: UserId, session: &NewSession) {
    let identity = session.identity.as_ref();
    let mut values = new_values(user_id, session);
    values.extend(values![
        identity.map(|identity| identity.provider.as_str()),
        identity.map(|identity| identity.issuer.as_str()),
        identity.map(|identity| identity.subject.as_str()),
    ]);
    writes.change(&OPEN_SESSION, values);
    end_surplus(writes, user_id, session);
}

/// Ends the sessions above the limit per user, if the new session was inserted.
fn end_surplus(writes: &mut Script, user_id: UserId, opened: &NewSession) {
    writes.change(&END_SURPLUS, values![user_id, opened.created_at, opened.id, MAX_LIVE_SESSIONS - 1]);
}

/// Inserts a session on the fast path: only if the user is neither banned nor pending, the checked password is
/// current, and the guess limits allow it. The affected rows tell if it was inserted.
pub(crate) fn open_plainly(
    writes: &mut Script,
    user_id: UserId,
    session: &NewSession,
    checked: &PasswordHash,
    guard: Option<&SignInGuard>,
) -> Slot {
    let now = session.created_at;
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
    let opened = writes.change(&OPEN_SESSION_PLAINLY, values);
    end_surplus(writes, user_id, session);
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
        Vec::new(), // no retired tokens
    ]
}

/// Ends a session of the user if it is live, and writes the event then. The session must be locked, so that both
/// statements see the same row. The affected rows count the ended sessions.
pub(crate) fn end_own_and_record(
    writes: &mut Script,
    user_id: UserId,
    id: SessionId,
    event: AuditEvent,
    now: Timestamp,
) -> StoreResult<Slot> {
    writes.change(&RECORD_END_OF_OWN, end_values(user_id, id, event, now)?);
    Ok(writes.change(&END_OWN, values![user_id, now, id]))
}

/// Ends the live sessions of the user except one, and writes the event if there are any. They must be locked.
pub(crate) fn end_others_and_record(
    writes: &mut Script,
    user_id: UserId,
    kept: SessionId,
    event: AuditEvent,
    now: Timestamp,
) -> StoreResult<Slot> {
    writes.change(&RECORD_END_OF_OTHERS, end_values(user_id, kept, event, now)?);
    Ok(end_others(writes, user_id, kept, now))
}

fn end_values(user_id: UserId, id: SessionId, event: AuditEvent, now: Timestamp) -> StoreResult<Vec<Value>> {
    let event = AuditEvent { user_id: Some(user_id), session_id: Some(id), ..event };
    let mut values = event_values(event)?;
    values.extend(values![user_id, now, id]);
    Ok(values)
}

/// Ends the live sessions of the user that an identity opened, except one.
pub(crate) fn end_opened_by(
    writes: &mut Script,
    user_id: UserId,
    identity: &LinkedIdentity,
    kept: SessionId,
    now: Timestamp,
) {
    let LinkedIdentity { provider, issuer, subject, .. } = identity;
    let values = values![user_id, now, kept, provider.as_str(), subject.as_str(), issuer.as_str()];
    writes.change(&END_OPENED_BY, values);
}

/// Locks and finds the session of a refresh token's family.
pub(crate) fn lock_by_family(reads: &mut Script, family: &TokenHash) -> Slot {
    reads.read(&LOCK_BY_FAMILY, values![family]);
    find_by_family(reads, family)
}

/// Replaces the current refresh token of a session by the offered one.
pub(crate) fn rotate(
    writes: &mut Script,
    id: SessionId,
    retired: &[ReplacedToken],
    refresh: &RefreshSession,
) {
    let values = values![
        id,
        &refresh.successor,
        ReplacedToken::encode_all(retired),
        refresh.sealed_successor.clone(),
        refresh.now.plus(refresh.grace),
        refresh.idle_expires_at,
        refresh.now,
        refresh.client.address.to_string(),
        refresh.client.user_agent.clone(),
    ];
    writes.change(&ROTATE, values);
}
