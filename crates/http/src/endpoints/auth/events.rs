//! `GET /api/auth/events`: the security events of one's own account.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::{EventId, SessionId};
use latchkey_domain::reason::Reason;
use latchkey_domain::shape::{Shape, Shaped};
use latchkey_domain::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa::openapi::ObjectBuilder;

use crate::app::App;
use crate::caller::SignedInUser;
use crate::endpoint::{Access, Endpoint};
use crate::error::{ApiError, Result};
use crate::json::Json;
use crate::openapi::{fields, parameters};
use crate::query::{Query, page_of};

/// A page of the security events of one's own account, newest first.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OwnEvents)]
pub struct OwnEventsBody {
    events: Vec<OwnEventBody>,
    /// Id for `before` to get the next page; `null` on the last page.
    #[schema(schema_with = next_before, required)]
    next_before: Option<EventId>,
}

/// A security event of one's own account.
#[derive(Serialize, ToSchema)]
#[schema(as = OwnEvent)]
pub(super) struct OwnEventBody {
    #[schema(schema_with = fields::shown::<EventId>)]
    id: EventId,
    #[schema(schema_with = fields::moment_of_event)]
    at: Timestamp,
    #[schema(schema_with = fields::event_name)]
    kind: &'static str,
    #[schema(schema_with = ip, required)]
    ip: Option<String>,
    #[schema(schema_with = device, required)]
    device: Option<String>,
    /// True if it happened in the session of this request.
    current: bool,
    #[schema(schema_with = details)]
    details: Map<String, Value>,
}

impl OwnEventBody {
    /// Builds the response body of an event. `current` is the session of the request.
    pub(super) fn new(event: AuditEvent, current: SessionId) -> Self {
        let client = event.client.as_ref();
        Self {
            id: event.id,
            at: event.at,
            kind: event.kind.as_str(),
            ip: client.map(|client| client.address.to_string()),
            device: client.map(|client| client.device().to_string()),
            current: event.session_id == Some(current),
            details: event.details,
        }
    }
}

pub const LIST: Endpoint = Endpoint::get("/api/auth/events", |method| on(method, list))
    .named("listEvents", "List the security events of one's own account")
    .about(
        "Sign-ins, failed ones too, and changes of the account in the last 90 days, newest first. The address of an \
         admin is not shown.",
    )
    .access(Access::User)
    .parameters(&[parameters::limit, parameters::before])
    .responds::<OwnEventsBody>("A page of events.");

pub async fn list(
    State(app): State<App>,
    SignedInUser(caller): SignedInUser,
    query: Query,
) -> Result<Json<OwnEventsBody>> {
    let limit = page_of(query.optional("limit")?.as_deref(), None)?.limit();
    let before = query.optional("before")?.map(|id| id.parse::<EventId>()).transpose();
    let before = before.map_err(|_| {
        ApiError::validation("before", "must be the id of an event").reason(Reason::InvalidFormat)
    })?;
    let page = app.service.own_data.events(caller, before, limit).await?;
    let events = page.events.into_iter().map(|event| OwnEventBody::new(event, caller.session_id));
    Ok(Json(OwnEventsBody { events: events.collect(), next_before: page.next }))
}

fn next_before() -> ObjectBuilder {
    fields::or_null(EventId::SHOWN.about("Pass it as `before` for the next page; `null` on the last one."))
}

fn ip() -> ObjectBuilder {
    fields::or_null(Shape::new(
        "IP address of the client whose request caused it; `null` if an admin or the service did.",
        "192.0.2.7",
    ))
}

fn device() -> ObjectBuilder {
    fields::or_null(Shape::new(
        "Device of the client whose request caused it; `null` if an admin or the service did.",
        "Firefox on Linux",
    ))
}

fn details() -> ObjectBuilder {
    fields::of(Shape::object(
        "What else is worth knowing, such as the methods of a sign-in. `by` is `admin` or `system` if not the user did it.",
        r#"{"amr":["pwd"]}"#,
    ))
}
