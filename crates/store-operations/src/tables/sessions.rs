//! Table `sessions`: sessions and the state of their refresh tokens. Contains columns, decoding of rows, and the
//! statements that open, read and refresh sessions. Statements that end sessions are in [`ends`], those of page sessions in
//! [`pages`], those of console sessions in [`console`].

pub(crate) mod console;
pub(crate) mod ends;
pub(crate) mod list;
pub(crate) mod pages;

use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::limits::LimitKey;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::refresh::{RefreshState, ReplacedToken};
use latchkey_domain::session::{
    AuthMethods, Level, NewSession, NewSessionKind, Session, SessionKind, SessionName,
};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;
use latchkey_store::{LiveSession, OwnProfile, RefreshSession, SignInGuard, StoreResult};

pub(crate) use ends::{
    end_all_of, end_opened_by, end_others, end_others_and_record, end_own_and_record, end_shown_passkey,
    end_shown_passkey_besides, end_with_opened_from_and_record, lock_others, lock_with_opened_from,
};

use crate::bulk::{Table, columns};
use crate::form::{Cells, Results, Script, Slot, Value, statements, stored_id, values};
use crate::tables::profiles::{self, profile_columns};
use crate::tables::seen_devices;
use crate::tables::users::{self, account_columns, account_tables};
use ends::end_surplus;

/// Columns of a session, in the order in which [`read_session`] decodes them. During an update, a release without
/// migration 14 may still run; the sessions that it writes have an empty `amr` and no `auth_time`.
macro_rules! session_columns {
    () => {
        "s.id, s.user_id, s.created_at, s.last_seen_at, s.idle_expires_at, s.absolute_expires_at,
        CASE WHEN s.amr = '' THEN s.method ELSE s.amr END, s.level,
        CASE WHEN s.auth_time = 0 THEN s.created_at ELSE s.auth_time END, s.address, s.user_agent, s.name, s.kind"
    };
}
pub(crate) use session_columns;
/// SQL condition that the session `s` is live at the time given by a parameter, as in [`RefreshState::is_live`].
/// Queries that authenticate a user exclude banned users as well.
#[macro_export]
macro_rules! is_live {
    ($now:literal) => {
        concat!("s.ended_at IS NULL AND s.idle_expires_at > ", $now, " AND s.absolute_expires_at > ", $now)
    };
}
/// Statement that inserts a session with the values of [`new_values`], and perhaps on a condition. Parameters of the
/// condition are numbered after those of the columns.
macro_rules! insert_session {
    ($condition:literal) => {
        concat!(
            "
        INSERT INTO sessions (id, user_id, family_hash, current_hash, retired, sealed_successor, sealed_until, method,
            address, user_agent, created_at, last_seen_at, idle_expires_at, absolute_expires_at, ended_at, amr, level,
            auth_time, identity_provider, identity_issuer, identity_subject, passkey_id, kind, browser_hash, opened_from)
        SELECT $1, $2, $3, $4, $5, NULL, NULL, $6, $7, $8, $9, $9, $10, $11, NULL, $12, $13, $14, $15, $16, $17, $18,
            $19, $20, $21",
            $condition
        )
    };
}

stored_id!(SessionId);

pub const TABLE: Table = Table::new(
    "sessions",
    1,
    columns! {
        id id, id user_id, bytes family_hash, bytes current_hash, bytes retired, bytes sealed_successor,
        int sealed_until, text method, text address, text user_agent, int created_at, int last_seen_at,
        int idle_expires_at, int absolute_expires_at, int ended_at, text amr, int level, int auth_time,
        text identity_provider, text identity_issuer, text identity_subject, text name, id passkey_id, text kind,
        bytes browser_hash, id opened_from
    },
);

statements! {
    OPEN_SESSION = insert_session!("");
    /// Inserts a console session if the grant of the account is active. Otherwise a grant that falls asleep during the
    /// sign-in would find the session when it wakes up.
    OPEN_CONSOLE_SESSION =
        insert_session!(" WHERE EXISTS (SELECT 1 FROM operators WHERE user_id = $2 AND activated_at IS NOT NULL)");
    /// Inserts a session of a sign-in with password, if nothing forbids it: the user is neither banned nor
    /// pending, no deletion is scheduled, two-step sign-in is off, the password is current, and the guess
    /// limits allow it. The limits are those of [`latchkey_domain::guess_limits::limited`], except that times
    /// written by a clock that ran ahead are not detected.
    OPEN_SESSION_PLAINLY = insert_session!("
        FROM users AS u JOIN credentials AS c ON c.user_id = u.id AND c.kind = 'password' AND c.data = $22
        WHERE u.id = $2 AND u.banned_at IS NULL AND u.two_step_at IS NULL AND u.deletes_at IS NULL
            AND NOT u.pending
            AND NOT EXISTS (SELECT 1 FROM limit_failures WHERE key = $23 AND blocked_until > $9)
            AND (NOT EXISTS (SELECT 1 FROM limit_failures WHERE key = $24 AND failures >= $25 AND since >= $26)
                OR EXISTS (SELECT 1 FROM known_clients WHERE key = $27 AND known_until > $9))");
    FIND_LIVE: read find_live(id: SessionId, now: Timestamp) = concat!(
        "SELECT ",
        account_columns!(),
        ", ",
        session_columns!(),
        " FROM sessions AS s CROSS JOIN ",
        account_tables!(),
        " WHERE s.id = $1 AND u.id = s.user_id AND u.banned_at IS NULL AND ",
        is_live!("$2")
    );
    FIND_OWNER: read find_owner(id: SessionId, now: Timestamp) = concat!(
        "SELECT s.user_id FROM sessions AS s JOIN users AS u ON u.id = s.user_id
        WHERE s.id = $1 AND u.banned_at IS NULL AND ",
        is_live!("$2")
    );
    /// Reads a row if the session is live and its user has this email address.
    FIND_LIVE_OF_ADDRESS = concat!(
        "SELECT 1 FROM sessions AS s JOIN users AS u ON u.id = s.user_id
        WHERE s.id = $1 AND u.email_key = $3 AND u.banned_at IS NULL AND ",
        is_live!("$2")
    );
    FIND_OWN_PROFILE: read find_own_profile(id: SessionId, now: Timestamp) = concat!(
        "SELECT s.user_id, ",
        profile_columns!(),
        " FROM sessions AS s JOIN users AS u ON u.id = s.user_id LEFT JOIN profiles AS p ON p.user_id = s.user_id
        WHERE s.id = $1 AND u.banned_at IS NULL AND ",
        is_live!("$2")
    );
    /// Reads the live sessions of a user, newest first.
    LIST_LIVE: read list_live(user_id: UserId, now: Timestamp, limit: u32) = concat!(
        "SELECT ",
        session_columns!(),
        " FROM sessions AS s WHERE s.user_id = $1 AND ",
        is_live!("$2"),
        " ORDER BY s.created_at DESC, s.id DESC LIMIT $3"
    );
    FIND_OF_USER: read find_of_user(id: SessionId, user_id: UserId) = concat!(
        "SELECT ",
        session_columns!(),
        " FROM sessions AS s WHERE s.id = $1 AND s.user_id = $2"
    );
    RENAME = concat!("UPDATE sessions AS s SET name = $3 WHERE s.id = $1 AND s.user_id = $2 AND ", is_live!("$4"));
    LOCK_USER: read lock_user(id: SessionId) =
        "SELECT 1 FROM users WHERE id = (SELECT user_id FROM sessions WHERE id = $1) FOR NO KEY UPDATE";
    LOCK_SESSION: read lock(id: SessionId) = "SELECT 1 FROM sessions WHERE id = $1 FOR NO KEY UPDATE";
    /// Locks the row of the session to which a refresh token's family belongs (all tokens that replaced one
    /// another), but not the user's row. A concurrent ban or deletion of the user waits for this lock before
    /// it ends the session.
    LOCK_BY_FAMILY = "SELECT 1 FROM sessions WHERE family_hash = $1 FOR NO KEY UPDATE";
    /// Reads the app session of a refresh token's family, live or not, with its user.
    FIND_BY_FAMILY: read find_by_family(family: &TokenHash) = concat!(
        "SELECT ",
        account_columns!(),
        ", ",
        session_columns!(),
        ", s.current_hash, s.retired, s.ended_at, s.sealed_successor FROM sessions AS s CROSS JOIN ",
        account_tables!(),
        " WHERE s.family_hash = $1 AND s.kind = 'app' AND u.id = s.user_id"
    );
    ROTATE = "
        UPDATE sessions SET current_hash = $2, retired = $3, sealed_successor = $4, sealed_until = $5,
            idle_expires_at = $6, last_seen_at = $7
        WHERE id = $1";
    /// Stores the client of a session, if a refresh comes from another one. SQLite writes the index of addresses even if the
    /// address that is set is the same.
    MOVE = "UPDATE sessions SET address = $2, user_agent = $3 WHERE id = $1";
}

/// A session that a refresh token belongs to, live or ended, with its user and the state of its refresh tokens.
pub(crate) struct RefreshableSession {
    pub(crate) user: User,
    pub(crate) session: Session,
    pub(crate) state: RefreshState,
    /// Current refresh token, encrypted under a key derived from its predecessor. `None` after it is deleted, about a
    /// minute after the grace period.
    pub(crate) sealed_successor: Option<Vec<u8>>,
}

pub(crate) fn read_session(cells: &mut Cells<'_>) -> StoreResult<Session> {
    Ok(Session {
        id: cells.of("sessions").id("id")?,
        user_id: cells.id("user_id")?,
        created_at: cells.time("created_at")?,
        last_seen_at: cells.time("last_seen_at")?,
        idle_expires_at: cells.time("idle_expires_at")?,
        absolute_expires_at: cells.time("absolute_expires_at")?,
        methods: cells.parsed("amr", AuthMethods::from_stored)?,
        level: Level::from_number(cells.int("level")?).ok_or_else(|| cells.corrupt("level"))?,
        authenticated_at: cells.time("auth_time")?,
        client: cells.client()?,
        name: cells.maybe_text("name")?.map(SessionName::from_stored),
        kind: cells.parsed("kind", SessionKind::parse)?,
    })
}

pub(crate) fn read_live(cells: &mut Cells<'_>) -> StoreResult<LiveSession> {
    let user = users::read_account(cells)?.user;
    Ok(LiveSession { session: read_session(cells)?, user })
}

pub(crate) fn read_own_profile(cells: &mut Cells<'_>) -> StoreResult<OwnProfile> {
    let user_id = cells.of("sessions").id("user_id")?;
    let profile = if cells.is_null() { None } else { Some(Box::new(profiles::read_profile(cells)?)) };
    Ok(OwnProfile { user_id, profile })
}

pub(crate) fn read_refreshable(cells: &mut Cells<'_>) -> StoreResult<RefreshableSession> {
    let user = users::read_account(cells)?.user;
    let session = read_session(cells)?;
    let current = cells.hash("current_hash")?;
    let retired =
        ReplacedToken::decode_all(&cells.bytes("retired")?).ok_or_else(|| cells.corrupt("retired"))?;
    let ended_at = cells.maybe_time("ended_at")?;
    let sealed_successor = cells.maybe_bytes("sealed_successor")?;
    let state = RefreshState {
        current,
        retired,
        idle_expires_at: session.idle_expires_at,
        absolute_expires_at: session.absolute_expires_at,
        ended_at,
    };
    Ok(RefreshableSession { user, session, state, sealed_successor })
}

pub(crate) fn owner(results: &Results<'_>, slot: Slot) -> StoreResult<Option<UserId>> {
    results.find(slot, |cells| cells.of("sessions").id("user_id"))
}

/// Inserts a session, and ends the user's least recently refreshed sessions above the maximum number. Stores
/// the session's device, and writes the mail about a new device. A page session or console session replaces the one that
/// its browser had. The transaction must hold the lock on the user's row.
pub(crate) fn open(writes: &mut Script, user_id: UserId, session: &NewSession) -> StoreResult<()> {
    pages::replace(writes, user_id, session)?;
    let open = match session.kind {
        NewSessionKind::Console(_) => &OPEN_CONSOLE_SESSION,
        NewSessionKind::App { .. } | NewSessionKind::Pages(_) | NewSessionKind::Activation(_) => {
            &OPEN_SESSION
        }
    };
    writes.change(open, new_values(user_id, session));
    end_surplus(writes, user_id, session);
    seen_devices::meet(writes, user_id, session);
    Ok(())
}

/// Inserts a session on the conditions of [`OPEN_SESSION_PLAINLY`], without a transaction. The number of affected rows
/// tells whether the session was inserted.
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
    seen_devices::meet(writes, user_id, session);
    opened
}

/// Returns the parameters of [`insert_session`].
fn new_values(user_id: UserId, session: &NewSession) -> Vec<Value> {
    let identity = session.identity.as_ref();
    let opened_from = match session.kind {
        NewSessionKind::App { opened_from } => opened_from,
        NewSessionKind::Pages(_) | NewSessionKind::Console(_) | NewSessionKind::Activation(_) => None,
    };
    values![
        session.id,
        user_id,
        &session.family,
        &session.refresh,
        Vec::new(), // a new session has no replaced refresh tokens
        session.methods.first().as_str(),
        session.client.address.to_string(),
        session.client.user_agent.clone(),
        session.created_at,
        session.idle_expires_at,
        session.absolute_expires_at,
        session.methods.to_stored(),
        i64::from(session.level.as_number()),
        session.authenticated_at,
        identity.map(|identity| identity.provider.as_str()),
        identity.map(|identity| identity.issuer.as_str()),
        identity.map(|identity| identity.subject.as_str()),
        session.passkey,
        session.kind.word().as_str(),
        session.kind.pages().map(|pages| &pages.browser),
        opened_from,
    ]
}

/// Sets the name of a live session of a user. The number of affected rows tells whether there is one.
pub(crate) fn rename(
    writes: &mut Script,
    user_id: UserId,
    id: SessionId,
    name: Option<&SessionName>,
    now: Timestamp,
) -> Slot {
    writes.change(&RENAME, values![id, user_id, name.map(SessionName::as_str), now])
}

/// Adds the statements that lock and read the session of a refresh token's family.
pub(crate) fn lock_by_family(reads: &mut Script, family: &TokenHash) -> Slot {
    reads.read(&LOCK_BY_FAMILY, values![family]);
    find_by_family(reads, family)
}

/// Replaces the current refresh token of a session by the successor in the request.
pub(crate) fn rotate(
    writes: &mut Script,
    session: &Session,
    retired: &[ReplacedToken],
    refresh: &RefreshSession,
) {
    let values = values![
        session.id,
        &refresh.successor,
        ReplacedToken::encode_all(retired),
        refresh.sealed_successor.clone(),
        refresh.now.plus(refresh.presented.grace),
        refresh.idle_expires_at,
        refresh.now,
    ];
    writes.change(&ROTATE, values);
    let (client, stored) = (&refresh.client, &session.client);
    if (client.address, &client.user_agent) != (stored.address, &stored.user_agent) {
        writes.change(&MOVE, values![session.id, client.address.to_string(), client.user_agent.clone()]);
    }
}
