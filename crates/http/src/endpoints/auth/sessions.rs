//! `/api/auth/sessions`: sign-in, and the user's own sessions.

pub mod sign_in;

use axum::extract::State;
use axum::routing::on;
use http::HeaderMap;
use latchkey_domain::ids::SessionId;
use latchkey_domain::reason::Reason;
use latchkey_domain::session::{AuthMethod, Session, SessionName};
use latchkey_domain::shape::Shaped;
use latchkey_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::{ArrayBuilder, ObjectBuilder, Type};

use super::UserBody;
use crate::app::App;
use crate::bearer::{BearerToken, Credentials};
use crate::body::{JsonBody, Patch};
use crate::caller::{SignedInUser, trace_user};
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::codes;
use crate::error::{ApiError, Result};
use crate::json::Json;
use crate::openapi::fields;
use crate::openapi::parameters;
use crate::path::PathText;
use crate::query::Query;
use latchkey_service::refusal::SESSION_NOT_FOUND;

/// The signed-in user, and the expiry of the access token.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CurrentSession)]
pub struct CurrentSessionBody {
    user: UserBody,
    #[schema(schema_with = fields::token_expiry)]
    expires_at: Timestamp,
}

/// The open sessions of the user.
#[derive(Serialize, ToSchema)]
#[schema(as = OwnSessions)]
pub struct SessionsBody {
    sessions: Vec<OwnSessionBody>,
}

/// An open session of the user. Device, name and sign-in are shown where `details` were asked for.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OwnSession)]
pub struct OwnSessionBody {
    #[schema(schema_with = fields::shown::<SessionId>)]
    id: SessionId,
    #[schema(schema_with = fields::moment_created)]
    created_at: Timestamp,
    #[schema(schema_with = fields::moment_seen)]
    last_seen_at: Timestamp,
    #[schema(schema_with = fields::user_agent, required)]
    user_agent: Option<String>,
    #[schema(schema_with = fields::ip_of_session)]
    ip: String,
    /// True for the session of this request.
    current: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = fields::device)]
    device: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = fields::shown_or_null::<SessionName>)]
    #[expect(clippy::option_option, reason = "absent without details, `null` without a name")]
    name: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = amr)]
    amr: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = level)]
    level: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = fields::moment_signed_in)]
    auth_time: Option<Timestamp>,
}

/// Request to name a session.
#[derive(Deserialize, ToSchema)]
#[schema(as = RenameSessionRequest)]
pub struct RenameRequest {
    #[serde(default)]
    #[schema(schema_with = fields::removable::<SessionName>, required)]
    name: Patch<SessionName>,
}

/// A session after it was named.
#[derive(Serialize, ToSchema)]
#[schema(as = RenamedSession)]
pub struct RenamedSessionBody {
    session: OwnSessionBody,
}

/// The response after sessions were ended, with their number.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EndedSessions)]
pub struct EndedSessionsBody {
    #[schema(schema_with = fields::success)]
    success: bool,
    #[schema(schema_with = fields::message)]
    message: &'static str,
    #[schema(schema_with = fields::count)]
    ended_count: u64,
}

pub const CURRENT: Endpoint = Endpoint::get("/api/auth/sessions/current", |method| on(method, current))
    .named("getCurrentUser", "Read the current user")
    .about("The user of the session, and when the access token expires.")
    .access(Access::User)
    .responds::<CurrentSessionBody>("The user.");

pub async fn current(State(app): State<App>, headers: HeaderMap) -> Result<Json<CurrentSessionBody>> {
    let bearer = Credentials::of(&headers).bearer;
    let (live, expires_at) =
        app.service.sessions.current_session(bearer.as_ref().map(BearerToken::expose)).await?;
    trace_user(&app, live.user.id);
    Ok(Json(CurrentSessionBody { user: UserBody::new(&app.service, &live.user), expires_at }))
}

pub const LIST: Endpoint = Endpoint::get("/api/auth/sessions", |method| on(method, list))
    .named("listSessions", "List one's own sessions")
    .access(Access::User)
    .parameters(&[parameters::details])
    .responds::<SessionsBody>("The live sessions of the user, at most 100.");

pub async fn list(
    State(app): State<App>,
    SignedInUser(caller): SignedInUser,
    query: Query,
) -> Result<Json<SessionsBody>> {
    let body =
        if query.flag("details")?.unwrap_or(false) { OwnSessionBody::detailed } else { OwnSessionBody::new };
    let sessions = app.service.sessions.list(caller).await?;
    let sessions = sessions.into_iter().map(|session| body(session, caller.session_id)).collect();
    Ok(Json(SessionsBody { sessions }))
}

pub const RENAME: Endpoint = Endpoint::patch("/api/auth/sessions/{id}", |method| on(method, rename))
    .named("renameSession", "Name one of one's own sessions")
    .access(Access::User)
    .parameters(&[parameters::id::<SessionId>])
    .body::<RenameRequest>(|| json!({ "name": SessionName::SENT.example }))
    .responds::<RenamedSessionBody>("The session with its new name.")
    .errors(&[&codes::NOT_FOUND]);

pub async fn rename(
    State(app): State<App>,
    SignedInUser(caller): SignedInUser,
    PathText(id): PathText,
    JsonBody(body): JsonBody<RenameRequest>,
) -> Result<Json<RenamedSessionBody>> {
    let name = match body.name {
        Patch::Absent => {
            return Err(ApiError::validation("name", "is required").reason(Reason::Required));
        }
        Patch::Null => None,
        Patch::Value(name) => Some(name),
    };
    let id = id.parse().map_err(|_| &SESSION_NOT_FOUND)?;
    let session = app.service.sessions.rename(caller, id, name).await?;
    Ok(Json(RenamedSessionBody { session: OwnSessionBody::detailed(session, caller.session_id) }))
}

pub const END_OTHERS: Endpoint = Endpoint::delete("/api/auth/sessions", |method| on(method, end_others))
    .named("endOtherSessions", "End one's other sessions")
    .access(Access::User)
    .parameters(&[parameters::others])
    .responds::<EndedSessionsBody>("All sessions but the calling one are over.");

pub async fn end_others(
    State(app): State<App>,
    SignedInUser(caller): SignedInUser,
    client: ClientInfo,
    query: Query,
) -> Result<Json<EndedSessionsBody>> {
    if query.required("others")? != "true" {
        return Err(ApiError::validation("others", "must be `true`").reason(Reason::NotAllowed));
    }
    let ended_count = app.service.sessions.end_others(caller, &client.to_domain()).await?;
    Ok(Json(EndedSessionsBody { success: true, message: "The other sessions were ended.", ended_count }))
}

pub const END_ONE: Endpoint = Endpoint::delete("/api/auth/sessions/{id}", |method| on(method, end_one))
    .named("endSession", "End one of one's own sessions")
    .access(Access::User)
    .parameters(&[parameters::id::<SessionId>])
    .responds::<EndedSessionsBody>("The session is over.")
    .errors(&[&codes::NOT_FOUND]);

pub async fn end_one(
    State(app): State<App>,
    SignedInUser(caller): SignedInUser,
    client: ClientInfo,
    PathText(id): PathText,
) -> Result<Json<EndedSessionsBody>> {
    let id = id.parse().map_err(|_| &SESSION_NOT_FOUND)?;
    app.service.sessions.end(caller, id, &client.to_domain()).await?;
    Ok(Json(EndedSessionsBody { success: true, message: "The session was ended.", ended_count: 1 }))
}

/// Builds the schema of the authentication level of a session.
fn level() -> ObjectBuilder {
    let about = "Level of the sign-in: 2 after a first and a second factor.";
    fields::of_type(Type::Integer, about).minimum(Some(1)).maximum(Some(2))
}

/// Builds the schema of the authentication methods of a session.
fn amr() -> ArrayBuilder {
    let words: Vec<_> = AuthMethod::ALL.iter().map(|method| method.as_str()).collect();
    ArrayBuilder::new()
        .items(ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)))
        .description(Some("How the user signed in (RFC 8176)."))
        .examples([json!(["pwd"])])
}

impl OwnSessionBody {
    fn new(session: Session, current: SessionId) -> Self {
        Self {
            id: session.id,
            created_at: session.created_at,
            last_seen_at: session.last_seen_at,
            ip: session.client.address.to_string(),
            user_agent: session.client.user_agent,
            current: session.id == current,
            device: None,
            name: None,
            amr: None,
            level: None,
            auth_time: None,
        }
    }

    /// Builds the response with name, device and sign-in.
    pub(super) fn detailed(session: Session, current: SessionId) -> Self {
        Self {
            device: Some(session.client.device().to_string()),
            name: Some(session.shown_name().map(str::to_owned)),
            amr: Some(session.methods.to_claim()),
            level: Some(session.level.as_number()),
            auth_time: Some(session.authenticated_at),
            ..Self::new(session, current)
        }
    }
}
