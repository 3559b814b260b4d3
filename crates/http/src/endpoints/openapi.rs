//! `GET /openapi.json`: the `OpenAPI` document of the HTTP interface.

use axum::routing::on;
use std::sync::LazyLock;

use axum::response::IntoResponse;
use bytes::Bytes;
use http::header::CONTENT_TYPE;

use crate::endpoint::Endpoint;
use crate::error::JSON_CONTENT_TYPE;
use crate::openapi::document;
use crate::openapi::shapes::OpenApiDocument;

/// The document as JSON, generated at the first request.
static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(document()));

pub const GET: Endpoint = Endpoint::get("/openapi.json", |method| on(method, get))
    .named("getOpenApiDocument", "Read this document")
    .responds::<OpenApiDocument>("This document.")
    .without_storage();

pub async fn get() -> impl IntoResponse {
    ([(CONTENT_TYPE, JSON_CONTENT_TYPE)], DOCUMENT.clone())
}
