//! `GET /.well-known/webauthn`: the related origins (WebAuthn section 5.11), which use the passkeys of this
//! service although their host does not belong to the relying party id.

use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::on;
use http::StatusCode;
use http::header::CACHE_CONTROL;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::endpoint::Endpoint;
use crate::error::{ApiError, Result, codes};
use crate::json::Json;
use crate::openapi::headers;

/// The related origins.
#[derive(Serialize, ToSchema)]
#[schema(as = RelatedOrigins)]
pub struct OriginsBody {
    /// The https origins whose host is neither the relying party id nor below it.
    origins: Vec<String>,
}

pub const GET: Endpoint = Endpoint::get("/.well-known/webauthn", |method| on(method, get))
    .named("getRelatedOrigins", "Read the related origins of passkeys")
    .about("For browsers: the origins outside of the passkeys' domain that may use them (WebAuthn section 5.11).")
    .responds_with::<OriginsBody>(StatusCode::OK, "The origins.", &[headers::CACHE_CONTROL])
    .errors(&[&codes::NOT_FOUND])
    .without_storage();

pub async fn get(State(app): State<App>) -> Result<impl IntoResponse> {
    let origins = app.service.passkeys.related_origins();
    if origins.is_empty() {
        return Err(ApiError::new(&codes::NOT_FOUND, "There are no related origins."));
    }
    Ok(([(CACHE_CONTROL, "public, max-age=3600")], Json(OriginsBody { origins })))
}
