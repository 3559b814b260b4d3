//! The audit trail.

use async_trait::async_trait;
use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::ids::{EventId, SessionId, UserId};
use latchkey_store::{Audit, EventPage, StoreResult};
use tokio_postgres::Row;

use crate::errors::Fallible;
use crate::rows::{Cells, object_text};
use crate::script::Script;
use crate::store::PostgresStore;
use crate::values::{Value, clean, values};

/// The event of [`event_values`], written where the condition holds.
macro_rules! record_event_where {
    ($condition:literal) => {
        concat!(
            "INSERT INTO audit_events (id, happened_at, kind, actor, user_id, session_id, address, user_agent, details)
            SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9 WHERE ",
            $condition
        )
    };
}
pub(crate) use record_event_where;

const RECORD_EVENT: &str = "
    INSERT INTO audit_events (id, happened_at, kind, actor, user_id, session_id, address, user_agent, details)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const RECORD_EVENTS: &str = "
    INSERT INTO audit_events (id, happened_at, kind, actor, user_id, session_id, address, user_agent, details)
    SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9)";
/// The event's session is the sixth value.
const RECORD_EVENT_IF_OPENED: &str = record_event_where!("EXISTS (SELECT 1 FROM sessions WHERE id = $6)");
const LIST_EVENTS: &str = "
    SELECT id, happened_at, kind, actor, user_id, session_id, address, user_agent, details
    FROM audit_events ORDER BY id DESC LIMIT $1";
const LIST_EVENTS_BEFORE: &str = "
    SELECT id, happened_at, kind, actor, user_id, session_id, address, user_agent, details
    FROM audit_events WHERE id < $2 ORDER BY id DESC LIMIT $1";

#[async_trait]
impl Audit for PostgresStore {
    async fn record_event(&self, event: AuditEvent) -> StoreResult<()> {
        self.tell(RECORD_EVENT, event_values(event)?).await?;
        Ok(())
    }

    async fn list_events(&self, before: Option<EventId>, limit: u32) -> StoreResult<EventPage> {
        let one_more = i64::from(limit) + 1;
        let found = match before {
            Some(before) => self.ask(LIST_EVENTS_BEFORE, values![one_more, before]).await?,
            None => self.ask(LIST_EVENTS, values![one_more]).await?,
        };
        let mut events = found.list(read_event)?;
        let limit = limit as usize;
        let has_more = events.len() > limit;
        events.truncate(limit);
        let next = if has_more { events.last().map(|event| event.id) } else { None };
        Ok(EventPage { events, next })
    }
}

/// The nine columns of an event, as the first parameters of a statement.
pub(crate) fn event_values(event: AuditEvent) -> Fallible<Vec<Value>> {
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
    ])
}

/// Writes an event as it is.
pub(crate) fn record(script: &mut Script, event: AuditEvent) -> Fallible<()> {
    script.add(RECORD_EVENT, event_values(event)?);
    Ok(())
}

/// Writes an event about this user and this session, where there is such a session.
pub(crate) fn record_if_opened(
    script: &mut Script,
    event: AuditEvent,
    user_id: UserId,
    session_id: SessionId,
) -> Fallible<()> {
    let event = AuditEvent { user_id: Some(user_id), session_id: Some(session_id), ..event };
    script.add(RECORD_EVENT_IF_OPENED, event_values(event)?);
    Ok(())
}

/// Writes an event about this user.
pub(crate) fn record_of(script: &mut Script, event: AuditEvent, user_id: UserId) -> Fallible<()> {
    record(script, AuditEvent { user_id: Some(user_id), ..event })
}

/// Writes an event about this user in this session.
pub(crate) fn record_in(
    script: &mut Script,
    event: AuditEvent,
    user_id: UserId,
    session_id: SessionId,
) -> Fallible<()> {
    record(script, AuditEvent { user_id: Some(user_id), session_id: Some(session_id), ..event })
}

/// Writes any number of events with one statement.
pub(crate) fn record_all(script: &mut Script, events: Vec<AuditEvent>) -> Fallible<()> {
    if events.is_empty() {
        return Ok(());
    }
    let mut columns = [(); 4].map(|()| Vec::with_capacity(events.len()));
    let [kinds, actors, addresses, agents] = &mut columns;
    let (mut ids, mut users, mut sessions) = (Vec::new(), Vec::new(), Vec::new());
    let (mut moments, mut details) = (Vec::new(), Vec::new());
    for event in events {
        ids.push(Some(event.id.as_uuid()));
        moments.push(Some(event.at.as_millis()));
        kinds.push(Some(event.kind.as_str().to_owned()));
        actors.push(Some(event.actor.as_str().to_owned()));
        users.push(event.user_id.map(|id| id.as_uuid()));
        sessions.push(event.session_id.map(|id| id.as_uuid()));
        addresses.push(event.client.as_ref().map(|client| client.address.to_string()));
        agents.push(event.client.and_then(|client| client.user_agent).map(clean));
        details.push(Some(object_text(&event.details)?));
    }
    let [kinds, actors, addresses, agents] = columns.map(Value::Texts);
    let values = vec![
        Value::Ids(ids),
        Value::Ints(moments),
        kinds,
        actors,
        Value::Ids(users),
        Value::Ids(sessions),
        addresses,
        agents,
        Value::Texts(details),
    ];
    script.add(RECORD_EVENTS, values);
    Ok(())
}

fn read_event(row: &Row) -> Fallible<AuditEvent> {
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
