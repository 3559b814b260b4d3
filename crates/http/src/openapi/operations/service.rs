//! What pages and machines ask of the service itself.

use http::StatusCode;
use utoipa::openapi::path::HttpMethod;

use crate::endpoints::auth::public_config::PublicConfigBody;
use crate::endpoints::health::HealthBody;
use crate::openapi::access::Access;
use crate::openapi::headers::CACHE_CONTROL;
use crate::openapi::operation::Operation;
use crate::openapi::shapes::{JwkSet, OpenApiDocument};
use crate::openapi::tags::Tag;

pub(super) fn operations() -> Vec<Operation> {
    let get = |path, id, summary| Operation::new(HttpMethod::Get, path, Tag::Service, id, summary);
    vec![
        get("/api/auth/public-config", "getPublicConfig", "Read the public settings")
            .about("What a sign-in page needs to know.")
            .access(Access::Public)
            .answers::<PublicConfigBody>(StatusCode::OK, "The settings in force.")
            .without_storage(),
        get("/.well-known/jwks.json", "getJwks", "Read the public keys")
            .about("The keys that verify access tokens (RFC 7517).")
            .answers_with::<JwkSet>(StatusCode::OK, "The key set.", &[CACHE_CONTROL])
            .without_storage(),
        get("/health/live", "getLiveness", "Whether the process runs")
            .answers::<HealthBody>(StatusCode::OK, "It runs.")
            .without_storage(),
        get("/health/ready", "getReadiness", "Whether the service can work")
            .about("Ready when the storage reads and writes.")
            .answers::<HealthBody>(StatusCode::OK, "It can."),
        get("/openapi.json", "getOpenApiDocument", "Read this document")
            .answers::<OpenApiDocument>(StatusCode::OK, "This document.")
            .without_storage(),
    ]
}
