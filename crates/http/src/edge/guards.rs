//! The guards inside the edge: size of the head, time of the answer, panics.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, StatusCode};

use super::refuse;
use crate::error::{ApiError, escape_control};
use crate::settings::HttpSettings;

/// Refuses a URI or headers over the limits.
pub(super) async fn limit_size(
    State(settings): State<Arc<HttpSettings>>,
    request: Request,
    next: Next,
) -> Response {
    let uri_bytes = request.uri().path_and_query().map_or(0, |uri| uri.as_str().len());
    if uri_bytes > settings.uri_limit {
        return refuse(ApiError::of_status(StatusCode::URI_TOO_LONG));
    }
    let headers = request.headers();
    if headers.len() > settings.header_count_limit || bytes_of(headers) > settings.header_bytes_limit {
        return refuse(ApiError::of_status(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE));
    }
    next.run(request).await
}

/// Refuses to take longer. What waits is dropped; a storage call that has begun still ends, because a store call is
/// atomic and does not live in the dropped future.
pub(super) async fn limit_time(State(limit): State<Duration>, request: Request, next: Next) -> Response {
    if let Ok(response) = tokio::time::timeout(limit, next.run(request)).await {
        return response;
    }
    tracing::warn!(limit_ms = limit.as_millis(), "request took too long");
    refuse(ApiError::of_status(StatusCode::SERVICE_UNAVAILABLE))
}

/// The answer of a handler that panicked: 500, and the panic's text in the log alone.
#[allow(clippy::needless_pass_by_value)] // the layer gives the payload away
pub(super) fn answer_panic(payload: Box<dyn Any + Send + 'static>) -> Response {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text");
    tracing::error!(panic = escape_control(text), "request panicked");
    refuse(ApiError::of_status(StatusCode::INTERNAL_SERVER_ERROR))
}

/// Bytes of all names and values.
fn bytes_of(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}
