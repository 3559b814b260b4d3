//! `GET /.well-known/jwks.json`: the public keys that verify access tokens (RFC 7517).

use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::on;
use http::StatusCode;
use http::header::CACHE_CONTROL;

use crate::app::App;
use crate::endpoint::Endpoint;
use crate::json::Json;
use crate::openapi::headers;
use crate::openapi::shapes::JwkSet;

pub const GET: Endpoint = Endpoint::get("/.well-known/jwks.json", |method| on(method, get))
    .named("getJwks", "Read the public keys")
    .about("The keys that verify access tokens (RFC 7517).")
    .responds_with::<JwkSet>(StatusCode::OK, "The key set.", &[headers::CACHE_CONTROL])
    .without_storage();

pub async fn get(State(app): State<App>) -> impl IntoResponse {
    ([(CACHE_CONTROL, "public, max-age=60")], Json(app.service.sessions.jwks()))
}
