//! `GET /.well-known/jwks.json`: the public keys of access tokens (RFC 7517).

use axum::extract::State;
use axum::response::IntoResponse;
use http::header::CACHE_CONTROL;

use crate::answer::Json;
use crate::app::App;

/// `GET /.well-known/jwks.json`
pub async fn get(State(app): State<App>) -> impl IntoResponse {
    ([(CACHE_CONTROL, "public, max-age=60")], Json(app.service.jwks()))
}
