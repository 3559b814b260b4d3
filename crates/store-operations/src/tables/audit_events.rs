//! Table `audit_events`: the audit log.

pub(crate) mod filters;

use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::ids::{EventId, SessionId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_store::{ANONYMOUS_FAILURE_RETENTION, ListOwnEvents, PURGE_BATCH, StoreResult};

use crate::bulk::{Table, columns};
use crate::form::{Cells, Script, Slot, Statement, Value, object_text, statements, stored_id, values};
use crate::tables::users;

/// Names of the ten columns of an event, in the order of [`event_values`] and `read_event`.
macro_rules! event_columns {
    () => {
        "id, happened_at, kind, actor, user_id, session_id, address, user_agent, details, operator_id"
    };
}
/// Statement that inserts the event of [`event_values`] if a condition holds. The condition's own parameters begin at
/// `$11`.
macro_rules! record_event_where {
    ($condition:expr) => {
        concat!(
            "INSERT INTO audit_events (id, happened_at, kind, actor, user_id, session_id, address, user_agent, details,
                operator_id)
            SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 WHERE ",
            $condition
        )
    };
}
use event_columns;
pub(crate) use record_event_where;

/// Query for the newest events of the user `$1` after the time `$2`: of the kind `$4`, or of all kinds if it
/// is null. Events of the kinds `$5` to `$7` are left out.
macro_rules! list_of_user {
    ($condition:literal) => {
        concat!(
            "SELECT ",
            event_columns!(),
            " FROM audit_events WHERE user_id = $1 AND happened_at > $2 AND kind = coalesce($4, kind)
                AND kind NOT IN ($5, $6, $7, $8)",
            $condition,
            " ORDER BY happened_at DESC, id DESC LIMIT $3"
        )
    };
}
/// Statement that deletes a batch of events up to a time, in the order of an index.
macro_rules! purge_where {
    ($condition:literal, $order:literal) => {
        concat!(
            "WITH gone AS MATERIALIZED (
                SELECT id FROM audit_events WHERE happened_at <= $1",
            $condition,
            " ORDER BY ",
            $order,
            " LIMIT $2 FOR UPDATE SKIP LOCKED)
            DELETE FROM audit_events WHERE id IN (SELECT id FROM gone)"
        )
    };
}

stored_id!(EventId);

pub const TABLE: Table = Table::new(
    "audit_events",
    1,
    columns! {
        id id, int happened_at, text kind, text actor, id user_id, id session_id, text address, text user_agent,
        text details, id operator_id
    },
);

statements! {
    RECORD_EVENT = concat!(
        "INSERT INTO audit_events (",
        event_columns!(),
        ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
    );
    /// Inserts an event if its session (`$6`) exists. The event is dropped if the session was not opened.
    RECORD_EVENT_IF_OPENED = record_event_where!("EXISTS (SELECT 1 FROM sessions WHERE id = $6)");
    LIST_OF_USER = list_of_user!("");
    /// Reads events of a user that precede the event `$9` of the same user. The second condition alone is
    /// exact; the first one is implied by it, and is there so that the index is used.
    LIST_OF_USER_BEFORE = list_of_user!("
                AND happened_at <= (SELECT happened_at FROM audit_events WHERE id = $9 AND user_id = $1)
                AND (happened_at < (SELECT happened_at FROM audit_events WHERE id = $9) OR id < $9)");
    FIND_OF_USER: read find_of_user(id: EventId, user_id: UserId) =
        "SELECT 1 FROM audit_events WHERE id = $1 AND user_id = $2";
    /// Removes network addresses and user agents from the events of a user. The user id stays.
    FORGET_CLIENTS_OF: change forget_clients_of(user_id: UserId) =
        "UPDATE audit_events SET address = NULL, user_agent = NULL WHERE user_id = $1";
    PURGE = purge_where!("", "happened_at");
    PURGE_FAILURES_OF_NOBODY =
        purge_where!(" AND user_id IS NULL AND kind IN ($3, $4, $5)", "user_id, happened_at, id");
}

/// Encodes the ten columns of an event as the first parameters of a statement.
pub(crate) fn event_values(event: AuditEvent) -> StoreResult<Vec<Value>> {
    let (address, user_agent) = match event.client {
        Some(client) => (Some(client.address.to_string()), client.user_agent),
        None => (None, None),
    };
    Ok(values![
        event.id,
        event.at,
        event.kind.as_str(),
        event.actor.as_str(),
        event.user_id,
        event.session_id,
        address,
        user_agent,
        object_text(&event.details)?,
        event.actor.operator(),
    ])
}

/// Returns the kind of the event that a statement inserts; `None` if it inserts none.
pub(crate) fn kind_written(statement: &Statement) -> Option<AuditKind> {
    let Statement::Change(sql, values) = statement else { return None };
    match values.get(2) {
        Some(Value::Text(Some(kind))) if sql.postgres().starts_with("INSERT INTO audit_events ") => {
            AuditKind::parse(kind)
        }
        _ => None,
    }
}

/// Writes an event. That of a completed sign-in also sets the time of its user's last one.
pub(crate) fn record(script: &mut Script, event: AuditEvent) -> StoreResult<()> {
    if let (AuditKind::SignedIn, Some(user_id)) = (event.kind, event.user_id) {
        users::note_sign_in(script, user_id, None, event.at);
    }
    script.change(&RECORD_EVENT, event_values(event)?);
    Ok(())
}

/// Writes an event with this user and session, if the session exists.
pub(crate) fn record_if_opened(
    script: &mut Script,
    event: AuditEvent,
    user_id: UserId,
    session_id: SessionId,
) -> StoreResult<()> {
    let event = AuditEvent { user_id: Some(user_id), session_id: Some(session_id), ..event };
    if event.kind == AuditKind::SignedIn {
        users::note_sign_in(script, user_id, Some(session_id), event.at);
    }
    script.change(&RECORD_EVENT_IF_OPENED, event_values(event)?);
    Ok(())
}

pub(crate) fn record_of(script: &mut Script, event: AuditEvent, user_id: UserId) -> StoreResult<()> {
    record(script, AuditEvent { user_id: Some(user_id), ..event })
}

pub(crate) fn record_in(
    script: &mut Script,
    event: AuditEvent,
    user_id: UserId,
    session_id: SessionId,
) -> StoreResult<()> {
    record(script, AuditEvent { user_id: Some(user_id), session_id: Some(session_id), ..event })
}

/// Reads events of one user, newest first.
pub(crate) fn list_of_user(script: &mut Script, list: &ListOwnEvents, limit: i64) -> Slot {
    let only = list.only.map(AuditKind::as_str);
    let mut values = values![list.user_id, list.since, limit, only];
    values.extend(AuditKind::HIDDEN_FROM_OWNER.map(AuditKind::as_str).map(Value::from));
    match list.before {
        Some(before) => {
            values.extend(values![before]);
            script.read(&LIST_OF_USER_BEFORE, values)
        }
        None => script.read(&LIST_OF_USER, values),
    }
}

/// Deletes a batch of events older than the retention, and a batch of failure events that name no user, which have a
/// shorter retention. The affected rows are the deleted events.
pub(crate) fn purge(writes: &mut Script, retention: Duration, now: Timestamp) -> [Slot; 2] {
    let failures = AuditKind::FAILURES.map(AuditKind::as_str);
    let mut of_nobody = values![now.minus(ANONYMOUS_FAILURE_RETENTION), PURGE_BATCH];
    of_nobody.extend(failures.map(Value::from));
    [
        writes.change(&PURGE, values![now.minus(retention), PURGE_BATCH]),
        writes.change(&PURGE_FAILURES_OF_NOBODY, of_nobody),
    ]
}

pub(crate) fn read_event(cells: &mut Cells<'_>) -> StoreResult<AuditEvent> {
    cells.of("audit_events");
    let id = cells.id("id")?;
    let at = cells.time("happened_at")?;
    let kind = cells.parsed("kind", AuditKind::parse)?;
    let actor = cells.text("actor")?;
    let user_id = cells.maybe_id("user_id")?;
    let session_id = cells.maybe_id("session_id")?;
    let client = cells.maybe_client()?;
    let details = cells.object("details")?;
    let operator = cells.maybe_id("operator_id")?;
    let actor = Actor::parse(actor, operator).ok_or_else(|| cells.corrupt("actor"))?;
    Ok(AuditEvent { id, at, kind, actor, user_id, session_id, client, details })
}
