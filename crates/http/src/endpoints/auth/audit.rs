//! `GET /api/auth/audit`: who did what, when, from where; for an admin.

use axum::extract::State;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::{EventId, SessionId, UserId};
use latchkey_domain::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::answer::Json;
use crate::app::App;
use crate::caller::Admin;
use crate::error::{ApiError, Result};
use crate::query::{Query, page_of};

/// A page of events, newest first.
#[derive(Serialize)]
pub struct AuditBody {
    data: Vec<EventBody>,
    pagination: AuditPaginationBody,
}

/// Where the next page begins.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditPaginationBody {
    limit: u32,
    /// Pass it as `before`; left out on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_before: Option<EventId>,
}

/// An event.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EventBody {
    id: EventId,
    at: Timestamp,
    event: &'static str,
    actor: &'static str,
    user_id: Option<UserId>,
    session_id: Option<SessionId>,
    ip: Option<String>,
    user_agent: Option<String>,
    details: Map<String, Value>,
}

impl From<AuditEvent> for EventBody {
    fn from(event: AuditEvent) -> Self {
        let (ip, user_agent) = match event.client {
            Some(client) => (Some(client.address.to_string()), client.user_agent),
            None => (None, None),
        };
        Self {
            id: event.id,
            at: event.at,
            event: event.kind.as_str(),
            actor: event.actor.as_str(),
            user_id: event.user_id,
            session_id: event.session_id,
            ip,
            user_agent,
            details: event.details,
        }
    }
}

/// `GET /api/auth/audit?limit=&before=`
pub async fn list(State(app): State<App>, _: Admin, query: Query) -> Result<Json<AuditBody>> {
    let limit = page_of(query.optional("limit")?.as_deref(), None)?.limit();
    let before = query.optional("before")?.map(|id| id.parse::<EventId>()).transpose();
    let before = before.map_err(|_| ApiError::validation("before", "must be the id of an event"))?;
    let page = app.service.list_events(before, limit).await?;
    Ok(Json(AuditBody {
        data: page.events.into_iter().map(EventBody::from).collect(),
        pagination: AuditPaginationBody { limit, next_before: page.next },
    }))
}
