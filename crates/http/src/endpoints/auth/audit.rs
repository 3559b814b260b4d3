//! `GET /api/auth/audit`: the audit log, for an admin.

pub mod export;
mod query;

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::{EventId, SessionId, UserId};
use latchkey_domain::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::app::App;
use crate::caller::AdminWith;
use crate::endpoint::{Access, Endpoint};
use crate::error::Result;
use crate::json::Json;
use crate::openapi::fields;
use crate::query::page_within;

/// A page of audit events, newest first.
#[derive(Serialize, ToSchema)]
#[schema(as = AuditPage)]
pub struct AuditBody {
    data: Vec<EventBody>,
    pagination: AuditPaginationBody,
}

/// Position of the page in the audit log.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditPagination)]
pub struct AuditPaginationBody {
    #[schema(schema_with = fields::page_limit)]
    limit: u32,
    /// Id for `before` to get the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = fields::next_event_id)]
    next_before: Option<EventId>,
}

/// An event of the audit log.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditEvent)]
pub struct EventBody {
    #[schema(schema_with = fields::shown::<EventId>)]
    id: EventId,
    #[schema(schema_with = fields::moment_of_event)]
    at: Timestamp,
    #[schema(schema_with = fields::event_name)]
    event: &'static str,
    #[schema(schema_with = fields::actor)]
    actor: &'static str,
    /// The operator who caused the event; only for the actor `operator`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = fields::acting_operator)]
    operator_id: Option<UserId>,
    #[schema(schema_with = fields::optional_user_id, required)]
    user_id: Option<UserId>,
    #[schema(schema_with = fields::optional_session_id, required)]
    session_id: Option<SessionId>,
    #[schema(schema_with = fields::ip_of_event, required)]
    ip: Option<String>,
    #[schema(schema_with = fields::user_agent, required)]
    user_agent: Option<String>,
    #[schema(schema_with = fields::event_details)]
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
            operator_id: event.actor.operator(),
            user_id: event.user_id,
            session_id: event.session_id,
            ip,
            user_agent,
            details: event.details,
        }
    }
}

impl EventBody {
    /// Returns the event as a line of JSON, with the line feed.
    #[must_use]
    pub fn line(&self) -> String {
        let mut line = serde_json::to_string(self).unwrap_or_default(); // strings and JSON values: cannot fail
        line.push('\n');
        line
    }
}

pub const LIST: Endpoint = Endpoint::get("/api/auth/audit", |method| on(method, list))
    .named("listAuditEvents", "Read the audit trail")
    .about(
        "Who did what, when, from where; newest first. Of several conditions all must be met. Where very few of very many \
         events meet them, a page may have fewer events than `limit`: only a page without `nextBefore` is the last.",
    )
    .access(Access::Admin)
    .parameters(query::DESCRIBED)
    .responds::<AuditBody>("A page of events.");

pub async fn list(State(app): State<App>, admin: AdminWith) -> Result<Json<AuditBody>> {
    let known = admin.query.knowing(query::NAMES)?;
    let limit = page_within(known.optional("limit")?.as_deref(), None)?.limit();
    let (filter, before) = (query::filter(&known)?, query::before(&known)?);
    let page = app.service.admin.list_events(filter, before, limit).await?;
    Ok(Json(AuditBody {
        data: page.events.into_iter().map(EventBody::from).collect(),
        pagination: AuditPaginationBody { limit, next_before: page.next },
    }))
}
