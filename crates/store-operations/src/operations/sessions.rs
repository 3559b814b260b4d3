//! Sessions: lookup, list, end.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::session::Session;
use latchkey_domain::time::Timestamp;
use latchkey_store::{EndedSession, LiveSession, OwnProfile, StoreResult};

use super::refresh;
use crate::form::{Executor, Repeat, Script, Slot};
use crate::tables::{sessions, users};

/// Most sessions listed for a user.
const LISTED: u32 = 1_000;

/// Finds a live session with its user.
pub(crate) async fn find_live<E: Executor>(
    engine: &E,
    id: SessionId,
    now: Timestamp,
) -> StoreResult<Option<LiveSession>> {
    let mut script = Script::default();
    let found = sessions::find_live(&mut script, id, now);
    engine.read(script, move |results| results.find(found, sessions::read_live)).await
}

/// Finds the user of a live session.
pub(crate) async fn find_owner<E: Executor>(
    engine: &E,
    id: SessionId,
    now: Timestamp,
) -> StoreResult<Option<UserId>> {
    let mut script = Script::default();
    let found = sessions::find_owner(&mut script, id, now);
    engine.read(script, move |results| sessions::owner(results, found)).await
}

/// Finds the user and profile of a live session.
pub(crate) async fn find_own_profile<E: Executor>(
    engine: &E,
    id: SessionId,
    now: Timestamp,
) -> StoreResult<Option<OwnProfile>> {
    let mut script = Script::default();
    let found = sessions::find_own_profile(&mut script, id, now);
    engine.read(script, move |results| results.find(found, sessions::read_own_profile)).await
}

/// Lists the live sessions of a user, newest first.
pub(crate) async fn list<E: Executor>(
    engine: &E,
    user_id: UserId,
    now: Timestamp,
) -> StoreResult<Vec<Session>> {
    let mut script = Script::default();
    let found = sessions::list_live(&mut script, user_id, now, LISTED);
    engine.read_long(script, move |results| results.list(found, sessions::read_session)).await
}

/// Ends sessions, and writes the event if any ended. Returns their number.
pub(crate) async fn end<E: Executor>(
    engine: &E,
    which: EndedSession,
    event: AuditEvent,
    now: Timestamp,
) -> StoreResult<u64> {
    let (script, ended) = match which {
        EndedSession::Own(user_id, id) => end_own(user_id, id, event, now)?,
        EndedSession::OthersOf(user_id, kept) => end_others(user_id, kept, event, now)?,
        EndedSession::OfRefreshToken { family, presented, grace } => {
            return refresh::end_by_token(engine, family, presented, grace, event, now).await;
        }
    };
    engine.write(script, Repeat::Never, move |results| results.affected(ended)).await
}

fn end_own(user_id: UserId, id: SessionId, event: AuditEvent, now: Timestamp) -> StoreResult<(Script, Slot)> {
    let mut script = Script::default();
    sessions::lock(&mut script, id);
    let ended = sessions::end_own_and_record(&mut script, user_id, id, event, now)?;
    Ok((script, ended))
}

fn end_others(
    user_id: UserId,
    kept: SessionId,
    event: AuditEvent,
    now: Timestamp,
) -> StoreResult<(Script, Slot)> {
    let mut script = Script::default();
    // Serialises transactions that end several sessions of this user: they wait here instead of deadlocking on
    // the sessions.
    users::lock_by_id(&mut script, user_id);
    sessions::lock_others(&mut script, user_id, kept, now);
    let ended = sessions::end_others_and_record(&mut script, user_id, kept, event, now)?;
    Ok((script, ended))
}
