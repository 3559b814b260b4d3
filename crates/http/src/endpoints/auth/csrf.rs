//! `GET /api/auth/csrf`: returns the CSRF token of the session in the refresh cookie, and changes nothing. A second app
//! on the same site shares the cookie, and gets the token from this endpoint.

use axum::extract::State;
use axum::routing::on;
use http::HeaderMap;
use latchkey_domain::tokens::RefreshToken;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::Result;
use crate::error::codes;
use crate::json::Json;
use crate::openapi::fields;
use crate::openapi::parameters;

/// The CSRF token of the session in the refresh cookie.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CsrfToken)]
pub struct CsrfTokenBody {
    #[schema(schema_with = fields::csrf_token)]
    csrf_token: String,
}

pub const CSRF_TOKEN: Endpoint = Endpoint::get("/api/auth/csrf", |method| on(method, get))
    .named("getCsrfToken", "Read the CSRF token of the cookie")
    .about(
        "The `csrfToken` of the session that the refresh cookie belongs to, for a second app of the same site. \
         Changes nothing: the refresh token stays, and no cookie is set. An `Origin` that is sent must be known, \
         and a call from another site must send one. For clients of type `web` alone.",
    )
    .access(Access::Cookie)
    .parameters(&[parameters::client_type])
    .responds::<CsrfTokenBody>("The token for `X-CSRF-Token`.")
    .errors(&[&codes::TOO_MANY_REQUESTS]);

pub async fn get(
    State(app): State<App>,
    client: ClientInfo,
    headers: HeaderMap,
) -> Result<Json<CsrfTokenBody>> {
    app.origins.check(&headers)?;
    let cookie = client.client_type.is_web().then(|| app.refresh_cookie.read(&headers)).flatten();
    let presented = cookie.and_then(|cookie| RefreshToken::parse(cookie.expose()));
    let csrf_token = app.service.sessions.csrf_token(presented, client.address()).await?;
    Ok(Json(CsrfTokenBody { csrf_token }))
}
