//! `GET /openapi.json`: the document of the interface.

use std::sync::LazyLock;

use axum::response::IntoResponse;
use bytes::Bytes;
use http::header::CONTENT_TYPE;

use crate::error::JSON_CONTENT_TYPE;
use crate::openapi::document;

/// Made at the first request, the same ever after.
static DOCUMENT: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(document()));

/// `GET /openapi.json`
pub async fn get() -> impl IntoResponse {
    ([(CONTENT_TYPE, JSON_CONTENT_TYPE)], DOCUMENT.clone())
}
