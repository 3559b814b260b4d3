//! `/api/auth/users/{id}/sessions`: the live sessions of a user, for an admin, and the end of one.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::operator::Party;
use latchkey_domain::time::Timestamp;
use latchkey_service::refusal::SESSION_NOT_FOUND;
use serde::Serialize;
use utoipa::ToSchema;

use crate::admin_input::{AdminBody, NoKeys};
use crate::app::App;
use crate::caller::Admin;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::MessageBody;
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::{fields, parameters};
use crate::path::{PathText, PathTexts, user_id};

/// The live sessions of a user.
#[derive(Serialize, ToSchema)]
#[schema(as = UserSessions)]
pub struct SessionsBody {
    data: Vec<SessionBody>,
}

/// A live session of a user.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UserSession)]
pub struct SessionBody {
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
    #[schema(schema_with = fields::device)]
    device: String,
}

pub const LIST: Endpoint = Endpoint::get("/api/auth/users/{id}/sessions", |method| on(method, list))
    .named("listUserSessions", "List a user's sessions")
    .access(Access::Admin)
    .parameters(&[parameters::id::<UserId>])
    .responds::<SessionsBody>("The sessions that have neither ended nor expired.")
    .errors(&[&codes::USER_NOT_FOUND]);

pub async fn list(State(app): State<App>, _: Admin, PathText(id): PathText) -> Result<Json<SessionsBody>> {
    let sessions = app.service.admin.list_sessions(user_id(&id)?).await?;
    let body = sessions.into_iter().map(|session| SessionBody {
        id: session.id,
        created_at: session.created_at,
        last_seen_at: session.last_seen_at,
        ip: session.client.address.to_string(),
        device: session.client.device().to_string(),
        user_agent: session.client.user_agent,
    });
    Ok(Json(SessionsBody { data: body.collect() }))
}

pub const END: Endpoint =
    Endpoint::delete("/api/auth/users/{id}/sessions/{sessionId}", |method| on(method, end))
        .named("endUserSession", "End one of a user's sessions")
        .access(Access::Admin)
        .parameters(&[parameters::id::<UserId>, parameters::session_id])
        .no_body()
        .responds::<MessageBody>("The session is over.")
        .errors(&[&codes::NOT_FOUND, &codes::USER_NOT_FOUND]);

pub async fn end(
    State(app): State<App>,
    Admin(client): Admin,
    PathTexts(user, session): PathTexts,
    _: AdminBody<NoKeys>,
) -> Result<Json<MessageBody>> {
    let id = user_id(&user)?;
    let session = session.parse().map_err(|_| &SESSION_NOT_FOUND)?;
    app.service.admin.end_session(id, session, Party::Admin, Some(&client.to_domain())).await?;
    Ok(Json(MessageBody { message: "The session was ended." }))
}
