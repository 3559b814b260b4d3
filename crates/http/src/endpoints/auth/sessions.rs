//! `/api/auth/sessions`: sign-in, and one's own sessions.

use axum::extract::{Path, State};
use axum::response::Response;
use http::HeaderMap;
use latchkey_domain::email::Email;
use latchkey_domain::ids::SessionId;
use latchkey_domain::password::Password;
use latchkey_domain::session::Session;
use latchkey_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::UserBody;
use super::session::{Saying, session_answer};
use crate::answer::Json;
use crate::app::App;
use crate::bearer::Credentials;
use crate::body::JsonBody;
use crate::caller::SignedInUser;
use crate::client::ClientInfo;
use crate::error::{ApiError, Result};
use crate::query::Query;

/// The body of signInWithPassword.
#[derive(Deserialize)]
pub struct SignInRequest {
    email: Email,
    password: Password,
    #[serde(default, rename = "method")]
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
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CurrentSessionBody {
    user: UserBody,
    expires_at: Timestamp,
}

/// One's own sessions.
#[derive(Serialize)]
pub struct SessionsBody {
    sessions: Vec<OwnSessionBody>,
}

/// One of one's own sessions.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnSessionBody {
    id: SessionId,
    created_at: Timestamp,
    last_seen_at: Timestamp,
    user_agent: Option<String>,
    ip: String,
    current: bool,
}

/// The answer to ended sessions.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EndedSessionsBody {
    success: bool,
    message: &'static str,
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
    let (live, expires_at) = app.service.current_session(bearer.as_ref().map(|token| token.expose())).await?;
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
        return Err(ApiError::validation("others", "must be `true`"));
    }
    let ended_count = app.service.end_other_sessions(caller, &client.to_domain()).await?;
    Ok(Json(EndedSessionsBody { success: true, message: "The other sessions were ended.", ended_count }))
}

/// `DELETE /api/auth/sessions/{id}`
pub async fn end_one(
    State(app): State<App>,
    SignedInUser(caller): SignedInUser,
    client: ClientInfo,
    Path(id): Path<String>,
) -> Result<Json<EndedSessionsBody>> {
    let id = id.parse().map_err(|_| latchkey_service::Error::NotFound("session"))?;
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
