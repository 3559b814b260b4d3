//! Statements that end sessions, with their audit events.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::{PasskeyId, SessionId, UserId};
use latchkey_domain::session::{MAX_LIVE_SESSIONS, NewSession};
use latchkey_domain::time::Timestamp;
use latchkey_store::{LinkedIdentity, StoreResult};

use crate::form::{Script, Slot, Value, statements, values};
use crate::is_live;
use crate::tables::audit_events::{event_values, record_event_where};

/// Statement that ends the live sessions of the user `$1` at the time `$2`, if they meet a condition.
macro_rules! end_where {
    ($which:literal) => {
        concat!(
            "UPDATE sessions AS s SET ended_at = $2, sealed_successor = NULL, sealed_until = NULL
            WHERE s.user_id = $1 AND ",
            $which,
            is_live!("$2")
        )
    };
}
/// Statement that writes an audit event if the user `$11` has sessions that meet a condition and are live at the time
/// `$12`.
macro_rules! record_end_where {
    ($which:literal) => {
        record_event_where!(concat!(
            "EXISTS (SELECT 1 FROM sessions AS s WHERE s.user_id = $11 AND ",
            $which,
            is_live!("$12"),
            ")"
        ))
    };
}

statements! {
    /// Locks the rows of all live sessions of a user except `kept`. The transaction must hold the lock on the
    /// user's row.
    LOCK_OTHERS: read lock_others(user_id: UserId, kept: SessionId, now: Timestamp) [user_id, now, kept] = concat!(
        "SELECT 1 FROM sessions AS s WHERE s.user_id = $1 AND s.id <> $3 AND ",
        is_live!("$2"),
        " FOR NO KEY UPDATE"
    );
    /// Ends the least recently refreshed sessions of a user. The new session `$3` and the `$4` most recently refreshed
    /// others stay. Does nothing if the new session does not exist.
    END_SURPLUS = concat!(
        "UPDATE sessions SET ended_at = $2, sealed_successor = NULL, sealed_until = NULL
        WHERE ended_at IS NULL AND EXISTS (SELECT 1 FROM sessions WHERE id = $3) AND id IN (
            SELECT s.id FROM sessions AS s WHERE s.user_id = $1 AND s.id <> $3 AND ",
        is_live!("$2"),
        " ORDER BY s.last_seen_at DESC, s.id DESC LIMIT 1000 OFFSET $4)"
    );
    END_OF_EVERYBODY: change end_of_everybody(now: Timestamp) = concat!(
        "UPDATE sessions AS s SET ended_at = $1, sealed_successor = NULL, sealed_until = NULL WHERE ",
        is_live!("$1")
    );
    END_ALL: change end_all_of(user_id: UserId, now: Timestamp) = end_where!("");
    END_OWN = end_where!("s.id = $3 AND ");
    /// Ends all live sessions of a user except `kept`.
    END_OTHERS: change end_others(user_id: UserId, kept: SessionId, now: Timestamp) [user_id, now, kept] =
        end_where!("s.id <> $3 AND ");
    /// Ends the live sessions that a user opened with an identity, except the session `$3`, if it is not null. Sessions of earlier
    /// releases may lack the issuer or the whole identity. A session without an issuer ends if provider and subject
    /// match. One without an identity ends if it was opened through any provider.
    END_OPENED_BY = end_where!(
        "s.id IS DISTINCT FROM $3 AND (s.identity_provider = $4 AND s.identity_subject = $5
            AND (s.identity_issuer IS NULL OR s.identity_issuer = $6)
            OR s.identity_provider IS NULL AND s.method = 'fed') AND "
    );
    /// Ends the live sessions of a user whose sign-in used a passkey.
    END_SHOWN_PASSKEY: change end_shown_passkey(user_id: UserId, passkey: PasskeyId, now: Timestamp)
        [user_id, now, passkey] = end_where!("s.passkey_id = $3 AND ");
    /// Ends the live sessions of a user whose sign-in used a passkey, except `kept`.
    END_SHOWN_PASSKEY_BESIDES: change end_shown_passkey_besides(
        user_id: UserId,
        passkey: PasskeyId,
        kept: SessionId,
        now: Timestamp
    ) [user_id, now, passkey, kept] = end_where!("s.passkey_id = $3 AND s.id <> $4 AND ");
    /// Locks a live page session of a user, and the live app sessions that were opened from it. The user must be locked.
    LOCK_WITH_OPENED_FROM: read lock_with_opened_from(user_id: UserId, page: SessionId, now: Timestamp)
        [user_id, now, page] = concat!(
        "SELECT 1 FROM sessions AS s WHERE s.user_id = $1 AND (s.id = $3 OR s.opened_from = $3) AND ",
        is_live!("$2"),
        " FOR NO KEY UPDATE"
    );
    END_WITH_OPENED_FROM = end_where!("(s.id = $3 OR s.opened_from = $3) AND ");
    /// Writes the audit event of ended sessions, if the page session `$13` or an app session that was opened from it is live.
    RECORD_END_OF_OPENED_FROM = record_end_where!("(s.id = $13 OR s.opened_from = $13) AND ");
    /// Writes the audit event of an ended session, if the session `$13` is live.
    RECORD_END_OF_OWN = record_end_where!("s.id = $13 AND ");
    /// Writes the audit event of ended sessions, if sessions other than `$13` are live.
    RECORD_END_OF_OTHERS = record_end_where!("s.id <> $13 AND ");
}

/// Ends the least recently refreshed sessions above the limit per user, if the new session was inserted.
pub(super) fn end_surplus(writes: &mut Script, user_id: UserId, opened: &NewSession) {
    writes.change(&END_SURPLUS, values![user_id, opened.created_at, opened.id, MAX_LIVE_SESSIONS - 1]);
}

/// Ends a session of a user, and writes the audit event if the session was live. The session's row must be
/// locked, so that both statements see the same state. The number of affected rows is that of ended sessions.
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

/// Ends all live sessions of a user except `kept`, and writes an audit event if there is at least one such
/// session. The rows of these sessions must be locked.
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

/// Ends a page session of a user and the app sessions that were opened from it, and writes the event if one of them was
/// live. The sessions must be locked.
pub(crate) fn end_with_opened_from_and_record(
    writes: &mut Script,
    user_id: UserId,
    page: SessionId,
    event: AuditEvent,
    now: Timestamp,
) -> StoreResult<Slot> {
    writes.change(&RECORD_END_OF_OPENED_FROM, end_values(user_id, page, event, now)?);
    Ok(writes.change(&END_WITH_OPENED_FROM, values![user_id, now, page]))
}

fn end_values(user_id: UserId, id: SessionId, event: AuditEvent, now: Timestamp) -> StoreResult<Vec<Value>> {
    let event = AuditEvent { user_id: Some(user_id), session_id: Some(id), ..event };
    let mut values = event_values(event)?;
    values.extend(values![user_id, now, id]);
    Ok(values)
}

/// Ends the live sessions that a user opened with an identity, except the session `kept`, if there is one.
pub(crate) fn end_opened_by(
    writes: &mut Script,
    user_id: UserId,
    identity: &LinkedIdentity,
    kept: Option<SessionId>,
    now: Timestamp,
) {
    let LinkedIdentity { provider, issuer, subject, .. } = identity;
    let values = values![user_id, now, kept, provider.as_str(), subject.as_str(), issuer.as_str()];
    writes.change(&END_OPENED_BY, values);
}
