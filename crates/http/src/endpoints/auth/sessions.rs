//! `/api/auth/sessions`: sign-in, and one's own sessions.

use axum::extract::State;
use axum::response::Response;
use axum::routing::on;
use http::HeaderMap;
use http::StatusCode;
use latchkey_domain::email::Email;
use latchkey_domain::ids::SessionId;
use latchkey_domain::password::Password;
use latchkey_domain::reason::Reason;
use latchkey_domain::session::Session;
use latchkey_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::session::{Saying, session_answer};
use super::{SessionBody, UserBody};
use crate::app::App;
use crate::bearer::{BearerToken, Credentials};
use crate::body::JsonBody;
use crate::caller::SignedInUser;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::codes;
use crate::error::{ApiError, Result};
use crate::json::Json;
use crate::openapi::fields;
use crate::openapi::headers::SET_COOKIE;
use crate::openapi::parameters;
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

/// The method of a sign-in; there is one so far.
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
    /// Is true for the session of the request.
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

/// Sign-in with email and password.
pub const SIGN_IN: Endpoint = Endpoint::post("/api/auth/sessions", |method| on(method, sign_in))
    .named("signInWithPassword", "Sign in with email and password")
    .about("Opens a session. A wrong password, an unknown address and an account without a password are answered alike.")
    .access(Access::Public)
    .parameters(&[parameters::client_type])
    .body::<SignInRequest>(|| json!({ "email": "ada@example.org", "password": "correct horse battery" }))
    .responds_with::<SessionBody>(StatusCode::OK, "The session is open.", &[SET_COOKIE])
    .errors(&[
        &codes::INVALID_CREDENTIALS,
        &codes::EMAIL_NOT_VERIFIED,
        &codes::USER_BANNED,
        &codes::TOO_MANY_REQUESTS,
    ]);

/// `POST /api/auth/sessions`: signInWithPassword
pub async fn sign_in(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<SignInRequest>,
) -> Result<Response> {
    let signed_in = app.service.passwords.sign_in(body.email, body.password, client.to_domain()).await?;
    session_answer(&app, client.client_type, signed_in, Saying::Nothing)
}

/// The current user.
pub const CURRENT: Endpoint = Endpoint::get("/api/auth/sessions/current", |method| on(method, current))
    .named("getCurrentUser", "Read the current user")
    .about("The user of the session, and when the access token expires.")
    .access(Access::User)
    .responds::<CurrentSessionBody>("The user.");

/// `GET /api/auth/sessions/current`: getCurrentUser, getCurrentSession
pub async fn current(State(app): State<App>, headers: HeaderMap) -> Result<Json<CurrentSessionBody>> {
    let bearer = Credentials::of(&headers).bearer;
    let (live, expires_at) =
        app.service.sessions.current_session(bearer.as_ref().map(BearerToken::expose)).await?;
    Ok(Json(CurrentSessionBody { user: live.user.into(), expires_at }))
}

/// The user's own sessions.
pub const LIST: Endpoint = Endpoint::get("/api/auth/sessions", |method| on(method, list))
    .named("listSessions", "List one's own sessions")
    .access(Access::User)
    .responds::<SessionsBody>("The living sessions of the user, 100 at the most.");

/// `GET /api/auth/sessions`
pub async fn list(State(app): State<App>, SignedInUser(caller): SignedInUser) -> Result<Json<SessionsBody>> {
    let sessions = app.service.sessions.list(caller).await?;
    let body = |session| OwnSessionBody::new(session, caller.session_id);
    Ok(Json(SessionsBody { sessions: sessions.into_iter().map(body).collect() }))
}

/// The end of the user's other sessions.
pub const END_OTHERS: Endpoint = Endpoint::delete("/api/auth/sessions", |method| on(method, end_others))
    .named("endOtherSessions", "End one's other sessions")
    .access(Access::User)
    .parameters(&[parameters::others])
    .responds::<EndedSessionsBody>("All sessions but the calling one are over.");

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
    let ended_count = app.service.sessions.end_others(caller, &client.to_domain()).await?;
    Ok(Json(EndedSessionsBody { success: true, message: "The other sessions were ended.", ended_count }))
}

/// The end of one of the user's own sessions.
pub const END_ONE: Endpoint = Endpoint::delete("/api/auth/sessions/{id}", |method| on(method, end_one))
    .named("endSession", "End one of one's own sessions")
    .access(Access::User)
    .parameters(&[parameters::session_id])
    .responds::<EndedSessionsBody>("The session is over.")
    .errors(&[&codes::NOT_FOUND]);

/// `DELETE /api/auth/sessions/{id}`
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
