//! `/api/auth/sessions`: sign-in, and one's own sessions.

use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use latchkey_domain::email::Email;
use latchkey_domain::ids::SessionId;
use latchkey_domain::password::Password;
use latchkey_domain::reason::Reason;
use latchkey_domain::session::Session;
use latchkey_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::UserBody;
use super::session::{Saying, session_answer};
use crate::answer::Json;
use crate::app::App;
use crate::bearer::{BearerToken, Credentials};
use crate::body::JsonBody;
use crate::caller::SignedInUser;
use crate::client::ClientInfo;
use crate::error::{ApiError, Result};
use crate::openapi::fields;
use crate::path::PathText;
use crate::query::Query;
use latchkey_service::refusal::SESSION_NOT_FOUND;

/// The body of signInWithPassword.
#[derive(Deserialize, ToSchema)]
pub struct SignInRequest {
    #[schema(schema_with = fields::sent::<Email>)]
    email: Email,
    #[schema(schema_with = fields::sent::<Password>)]
    password: Password,
    #[serde(default, rename = "method")]
    #[schema(schema_with = fields::sign_in_method)]
    _method: Option<SignInMethod>,
}

/// How one signs in; there is one way so far.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignInMethod {
    /// By password.
    Password,
}

/// The current session.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CurrentSession)]
pub struct CurrentSessionBody {
    user: UserBody,
    #[schema(schema_with = fields::token_expiry)]
    expires_at: Timestamp,
}

/// One's own sessions.
#[derive(Serialize, ToSchema)]
#[schema(as = OwnSessions)]
pub struct SessionsBody {
    sessions: Vec<OwnSessionBody>,
}

/// One of one's own sessions.
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
    #[schema(schema_with = fields::ip)]
    ip: String,
    /// Whether it is the session that asks.
    current: bool,
}

/// The answer to ended sessions.
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

/// `POST /api/auth/sessions`: signInWithPassword
pub async fn sign_in(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<SignInRequest>,
) -> Result<Response> {
    let signed_in = app.service.sign_in(body.email, body.password, client.to_domain()).await?;
    session_answer(&app, client.client_type, signed_in, Saying::Nothing)
}

/// `GET /api/auth/sessions/current`: getCurrentUser, getCurrentSession
pub async fn current(State(app): State<App>, headers: HeaderMap) -> Result<Json<CurrentSessionBody>> {
    let bearer = Credentials::of(&headers).bearer;
    let (live, expires_at) = app.service.current_session(bearer.as_ref().map(BearerToken::expose)).await?;
    Ok(Json(CurrentSessionBody { user: live.user.into(), expires_at }))
}

/// `GET /api/auth/sessions`
pub async fn list(State(app): State<App>, SignedInUser(caller): SignedInUser) -> Result<Json<SessionsBody>> {
    let sessions = app.service.list_sessions(caller).await?;
    let body = |session| OwnSessionBody::new(session, caller.session_id);
    Ok(Json(SessionsBody { sessions: sessions.into_iter().map(body).collect() }))
}

/// `DELETE /api/auth/sessions?others=true`
pub async fn end_others(
    State(app): State<App>,
    SignedInUser(caller): SignedInUser,
    client: ClientInfo,
    query: Query,
) -> Result<Json<EndedSessionsBody>> {
    if query.required("others")? != "true" {
        return Err(ApiError::validation("others", "must be `true`").reason(Reason::NotAllowed));
    }
    let ended_count = app.service.end_other_sessions(caller, &client.to_domain()).await?;
    Ok(Json(EndedSessionsBody { success: true, message: "The other sessions were ended.", ended_count }))
}

/// `DELETE /api/auth/sessions/{id}`
pub async fn end_one(
    State(app): State<App>,
    SignedInUser(caller): SignedInUser,
    client: ClientInfo,
    PathText(id): PathText,
) -> Result<Json<EndedSessionsBody>> {
    let id = id.parse().map_err(|_| &SESSION_NOT_FOUND)?;
    app.service.end_session(caller, id, &client.to_domain()).await?;
    Ok(Json(EndedSessionsBody { success: true, message: "The session was ended.", ended_count: 1 }))
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
        }
    }
}
