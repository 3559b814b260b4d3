//! `POST /api/auth/refresh`: refreshSession. A web client is read from its cookie alone, the others from the body
//! alone, so that neither channel can be used to step around the other's checks.

use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use latchkey_domain::tokens::RefreshToken;
use latchkey_service::refresh::Presented;
use latchkey_service::refusal::AUTH_UNAUTHORIZED;
use serde::Deserialize;
use utoipa::ToSchema;

use super::session::{Saying, session_answer};
use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::error::Result;
use crate::openapi::fields;

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
    let signed_in = app.service.refresh(presented, client.to_domain()).await?;
    session_answer(&app, client.client_type, signed_in, Saying::Expiry)
}
