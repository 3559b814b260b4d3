//! The audit trail.

use async_trait::async_trait;
use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::ids::{EventId, SessionId, UserId};
use latchkey_store::{Audit, EventPage, StoreResult};
use rusqlite::{Connection, Row, params};

use crate::errors::Fallible;
use crate::rows::{Cells, Id, object_text};
use crate::statements::{execute, list};
use crate::store::SqliteStore;

const RECORD_EVENT: &str = "
    INSERT INTO audit_events (id, happened_at, kind, actor, user_id, session_id, address, user_agent, details)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
const LIST_EVENTS: &str = "
    SELECT id, happened_at, kind, actor, user_id, session_id, address, user_agent, details
    FROM audit_events ORDER BY id DESC LIMIT ?1";
const LIST_EVENTS_BEFORE: &str = "
    SELECT id, happened_at, kind, actor, user_id, session_id, address, user_agent, details
    FROM audit_events WHERE id < ?2 ORDER BY id DESC LIMIT ?1";

#[async_trait]
impl Audit for SqliteStore {
    async fn record_event(&self, event: AuditEvent) -> StoreResult<()> {
        self.write(move |conn| record(conn, event)).await
    }

    async fn list_events(&self, before: Option<EventId>, limit: u32) -> StoreResult<EventPage> {
        self.read_long(move |conn| list_events(conn, before, limit)).await
    }
}

/// Writes an event as it is.
pub(crate) fn record(conn: &Connection, event: AuditEvent) -> Fallible<()> {
    let (address, user_agent) = match event.client {
        Some(client) => (Some(client.address.to_string()), client.user_agent),
        None => (None, None),
    };
    let params = params![
        event.id.blob(),
        event.at.as_millis(),
        event.kind.as_str(),
        event.actor.as_str(),
        event.user_id.map(|id| id.blob()),
        event.session_id.map(|id| id.blob()),
        address,
        user_agent,
        object_text(&event.details)?,
    ];
    execute(conn, RECORD_EVENT, params)?;
    Ok(())
}

/// Writes an event about this user.
pub(crate) fn record_of(conn: &Connection, event: AuditEvent, user_id: UserId) -> Fallible<()> {
    record(conn, AuditEvent { user_id: Some(user_id), ..event })
}

/// Writes an event about this user in this session.
pub(crate) fn record_in(
    conn: &Connection,
    event: AuditEvent,
    user_id: UserId,
    session_id: SessionId,
) -> Fallible<()> {
    record(conn, AuditEvent { user_id: Some(user_id), session_id: Some(session_id), ..event })
}

fn list_events(conn: &Connection, before: Option<EventId>, limit: u32) -> Fallible<EventPage> {
    let one_more = i64::from(limit) + 1;
    let mut events = match before {
        Some(before) => list(conn, LIST_EVENTS_BEFORE, params![one_more, before.blob()], read_event)?,
        None => list(conn, LIST_EVENTS, params![one_more], read_event)?,
    };
    let limit = limit as usize;
    let has_more = events.len() > limit;
    events.truncate(limit);
    let next = if has_more { events.last().map(|event| event.id) } else { None };
    Ok(EventPage { events, next })
}

fn read_event(row: &Row<'_>) -> Fallible<AuditEvent> {
    let mut cells = Cells::new(row, "audit_events");
    Ok(AuditEvent {
        id: cells.id("id")?,
        at: cells.time("happened_at")?,
        kind: cells.parsed("kind", AuditKind::from_stored)?,
        actor: cells.parsed("actor", Actor::from_stored)?,
        user_id: cells.maybe_id("user_id")?,
        session_id: cells.maybe_id("session_id")?,
        client: cells.maybe_client()?,
        details: cells.object("details")?,
    })
}
