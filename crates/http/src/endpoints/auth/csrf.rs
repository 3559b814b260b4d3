//! `GET /api/auth/csrf`: the CSRF token of the session that the refresh cookie belongs to. A second app of the same site
//! has the cookie and not the token; this call gives it the token and changes nothing.

use axum::extract::State;
use http::HeaderMap;
use latchkey_domain::tokens::RefreshToken;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::Json;
use crate::app::App;
use crate::client::ClientInfo;
use crate::error::Result;
use crate::openapi::fields;

/// The CSRF token.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CsrfToken)]
pub struct CsrfTokenBody {
    #[schema(schema_with = fields::csrf_token)]
    csrf_token: String,
}

/// `GET /api/auth/csrf`
pub async fn get(
    State(app): State<App>,
    client: ClientInfo,
    headers: HeaderMap,
) -> Result<Json<CsrfTokenBody>> {
    app.origins.check(&headers)?;
    let cookie = client.client_type.is_web().then(|| app.refresh_cookie.read(&headers)).flatten();
    let presented = cookie.and_then(|cookie| RefreshToken::parse(cookie.expose()));
    let csrf_token = app.service.csrf_token(presented, client.address()).await?;
    Ok(Json(CsrfTokenBody { csrf_token }))
}
