//! `POST /api/auth/refresh`: refreshes a session. The refresh token of a web client is read from the cookie only, that
//! of other clients from the body only. A web client therefore cannot avoid the checks of origin and CSRF token by
//! sending the token in the body. The rules are in [`latchkey_domain::refresh`], the use case is
//! [`latchkey_service::sessions::refresh`].

use axum::extract::State;
use axum::response::Response;
use axum::routing::on;
use http::HeaderMap;
use http::StatusCode;
use latchkey_domain::client::ClientType;
use latchkey_domain::shape::Shaped;
use latchkey_domain::tokens::RefreshToken;
use latchkey_service::refusal::AUTH_UNAUTHORIZED;
use latchkey_service::sessions::refresh::PresentedToken;
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

const CSRF_HEADER: &str = "x-csrf-token";

/// Request of a client that stores the refresh token itself. Either spelling of the key is accepted.
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
    /// Parses the refresh token; `None` if it is missing or malformed.
    fn token(&self) -> Option<RefreshToken> {
        let text = self.refresh_token.as_deref().or(self.older_refresh_token.as_deref())?;
        RefreshToken::parse(text)
    }
}

/// Reads the refresh token of a request: for a web client from the cookie, after the check of the request's origin; for
/// other clients from the body.
pub(super) fn presented_token(
    app: &App,
    client_type: ClientType,
    headers: &HeaderMap,
    body: &RefreshRequest,
) -> Result<Option<PresentedToken>> {
    if !client_type.is_web() {
        return Ok(body.token().map(|token| PresentedToken { token, client_type, csrf_token: None }));
    }
    let Some(cookie) = app.refresh_cookie.read(headers) else { return Ok(None) };
    app.origins.check(headers)?;
    let csrf_token = headers.get(CSRF_HEADER).and_then(|value| value.to_str().ok()).map(str::to_owned);
    Ok(RefreshToken::parse(cookie.expose()).map(|token| PresentedToken { token, client_type, csrf_token }))
}

pub const REFRESH: Endpoint = Endpoint::post("/api/auth/refresh", |method| on(method, refresh))
    .named("refreshSession", "Refresh the session")
    .about(
        "Exchanges the refresh token for an access token and the next refresh token. `web` sends the cookie and \
         `X-CSRF-Token`; the other client types send `refreshToken` (or `refresh_token`) in the body. The token just \
         replaced yields the same successor again during the grace period (half a minute by default), and a new one \
         later, as long as the successor was not used; any other replay after the grace period ends the session.",
    )
    .access(Access::Refresh)
    .parameters(&[parameters::client_type, parameters::csrf_token])
    .optional_body::<RefreshRequest>(example)
    .responds_with::<SessionBody>(StatusCode::OK, "The new tokens, with `expiresAt`.", &[SET_COOKIE])
    .errors(&[&codes::TOO_MANY_REQUESTS]);

/// Builds an example of a request body, with a well-formed token.
pub(super) fn example() -> Value {
    json!({ "refreshToken": RefreshToken::SENT.example })
}

pub async fn refresh(
    State(app): State<App>,
    client: ClientInfo,
    headers: HeaderMap,
    JsonBody(body): JsonBody<RefreshRequest>,
) -> Result<Response> {
    let presented = presented_token(&app, client.client_type, &headers, &body)?.ok_or(&AUTH_UNAUTHORIZED)?;
    let signed_in = app.service.sessions.refresh(presented, client.to_domain()).await?;
    session_answer(&app, signed_in, Saying::Expiry)
}
