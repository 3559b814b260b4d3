//! `POST /api/auth/refresh`: refreshSession. A web client is read from its cookie alone, the others from the body
//! alone, so that neither channel can be used to step around the other's checks.

use axum::extract::State;
use axum::response::Response;
use axum::routing::on;
use http::HeaderMap;
use http::StatusCode;
use latchkey_domain::tokens::RefreshToken;
use latchkey_service::refusal::AUTH_UNAUTHORIZED;
use latchkey_service::sessions::refresh::Presented;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::SessionBody;
use super::session::{Saying, session_answer};
use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::Result;
use crate::error::codes;
use crate::openapi::fields;
use crate::openapi::headers::SET_COOKIE;
use crate::openapi::parameters;
use latchkey_domain::shape::Shaped;

/// The header of the CSRF token.
const CSRF_HEADER: &str = "x-csrf-token";

/// The body, for clients that keep the refresh token themselves. Both spellings are read.
#[derive(Deserialize, ToSchema)]
pub struct RefreshRequest {
    #[serde(rename = "refreshToken")]
    #[schema(schema_with = fields::sent_or_null::<RefreshToken>)]
    refresh_token: Option<String>,
    #[serde(rename = "refresh_token")]
    #[schema(schema_with = fields::sent_or_null::<RefreshToken>)]
    older_refresh_token: Option<String>,
}

impl RefreshRequest {
    /// The token of a body.
    pub(super) fn token(&self) -> Option<RefreshToken> {
        let text = self.refresh_token.as_deref().or(self.older_refresh_token.as_deref())?;
        RefreshToken::parse(text)
    }
}

/// The token of a cookie, after the check of where the call comes from.
pub(super) fn cookie_token(app: &App, headers: &HeaderMap) -> Result<Option<Presented>> {
    let Some(cookie) = app.refresh_cookie.read(headers) else { return Ok(None) };
    app.origins.check(headers)?;
    let csrf_token = headers.get(CSRF_HEADER).and_then(|value| value.to_str().ok()).map(str::to_owned);
    Ok(RefreshToken::parse(cookie.expose()).map(|token| Presented::Cookie { token, csrf_token }))
}

/// Refresh of a session.
pub const REFRESH: Endpoint = Endpoint::post("/api/auth/refresh", |method| on(method, refresh))
    .named("refreshSession", "Refresh the session")
    .about(
        "Exchanges the refresh token for an access token and the next refresh token. `web` sends the cookie and \
         `X-CSRF-Token`; the other client types send `refreshToken` (or `refresh_token`) in the body. The token just \
         replaced yields the same successor again for half a minute, and a new one later, as long as the successor \
         was not used; any other replay after half a minute ends the session.",
    )
    .access(Access::Refresh)
    .parameters(&[parameters::client_type, parameters::csrf_token])
    .optional_body::<RefreshRequest>(example)
    .responds_with::<SessionBody>(StatusCode::OK, "The new tokens, with `expiresAt`.", &[SET_COOKIE])
    .errors(&[&codes::TOO_MANY_REQUESTS]);

/// A body with a token of the right form.
pub(super) fn example() -> Value {
    json!({ "refreshToken": RefreshToken::SENT.example })
}

/// `POST /api/auth/refresh`
pub async fn refresh(
    State(app): State<App>,
    client: ClientInfo,
    headers: HeaderMap,
    JsonBody(body): JsonBody<RefreshRequest>,
) -> Result<Response> {
    let presented = if client.client_type.is_web() {
        cookie_token(&app, &headers)?
    } else {
        body.token().map(Presented::Body)
    };
    let presented = presented.ok_or(&AUTH_UNAUTHORIZED)?;
    let signed_in = app.service.sessions.refresh(presented, client.to_domain()).await?;
    session_answer(&app, client.client_type, signed_in, Saying::Expiry)
}
