//! `POST /api/auth/logout`: ends the session on the server. Idempotent.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use http::HeaderMap;
use http::StatusCode;
use http::header::SET_COOKIE;
use latchkey_service::sessions::SignOut;
use serde::Serialize;
use utoipa::ToSchema;

use super::refresh::{RefreshRequest, example, presented_token};
use crate::app::App;
use crate::bearer::Credentials;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::{ApiError, Result};
use crate::json::Json;
use crate::openapi::fields;
use crate::openapi::headers;
use crate::openapi::parameters;

/// The response to a sign-out.
#[derive(Serialize, ToSchema)]
#[schema(as = SignedOut)]
pub struct LoggedOutBody {
    #[schema(schema_with = fields::success)]
    success: bool,
    #[schema(schema_with = fields::message)]
    message: &'static str,
}

pub const SIGN_OUT: Endpoint = Endpoint::post("/api/auth/logout", |method| on(method, logout))
    .named("signOut", "Sign out")
    .about(
        "Ends the session on the server: that of the cookie with `X-CSRF-Token` for `web`, that of `refreshToken` for \
         the other client types, and that of a good bearer. Idempotent: a stale token, or none, is no error.",
    )
    .access(Access::SignOut)
    .parameters(&[parameters::client_type, parameters::csrf_token])
    .optional_body::<RefreshRequest>(example)
    .responds_with::<LoggedOutBody>(StatusCode::OK, "There is no session any more.", &[headers::SET_COOKIE]);

pub async fn logout(
    State(app): State<App>,
    client: ClientInfo,
    headers: HeaderMap,
    JsonBody(body): JsonBody<RefreshRequest>,
) -> Result<Response> {
    let presented = presented_token(&app, client.client_type, &headers, &body)?;
    let by_refresh_token = presented.map_or(SignOut::Nothing, SignOut::Refresh);
    let from = client.to_domain();
    app.service.sessions.sign_out(by_refresh_token, &from).await?;

    let bearer = Credentials::of(&headers).bearer;
    if let Some(bearer) = &bearer {
        app.service.sessions.sign_out(SignOut::Bearer(bearer.expose()), &from).await?;
    }
    let mut response = Json(LoggedOutBody { success: true, message: "You are signed out." }).into_response();
    if client.client_type.is_web() {
        response.headers_mut().append(SET_COOKIE, app.refresh_cookie.clear().map_err(ApiError::internal)?);
    }
    Ok(response)
}
