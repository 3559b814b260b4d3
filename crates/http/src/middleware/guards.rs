//! Middleware inside the CORS step: limit on requests in flight, limits on URI and headers, time limit, panic handler.

use std::any::Any;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use axum::extract::Request;
use axum::response::Response;
use futures_util::FutureExt;
use http::{HeaderMap, Method, StatusCode};

use super::refuse;
use crate::error::{ApiError, codes, escape_control};
use crate::query::{MOST_PARAMETERS, check_parameter_count};
use crate::serve::Overloaded;
use crate::settings::{HttpSettings, UPLOAD_TIME};

/// `Retry-After` of a 503 for too many requests in flight, which take only milliseconds.
const OVERLOAD_WAIT: Duration = Duration::from_secs(1);
/// Paths that files to import are sent to: by an API key, and from the console.
const UPLOADS: [&str; 2] = ["/api/auth/import", "/console/import/new"];

/// Refuses a request with 503 if it arrived while `server.max_requests` others were in flight.
pub(super) fn refuse_overload(request: &Request) -> Option<Response> {
    request.extensions().get::<Overloaded>()?;
    let message = "The service has more requests in flight than it takes at once.";
    Some(refuse(ApiError::new(&codes::SERVICE_BUSY, message).retry_after(OVERLOAD_WAIT)))
}

/// Refuses a URI that is too long (414), headers that are too large (431), or too many query parameters (400).
pub(super) fn refuse_form(settings: &HttpSettings, request: &Request) -> Option<Response> {
    let uri_bytes = request.uri().path_and_query().map_or(0, |uri| uri.as_str().len());
    if uri_bytes > settings.uri_limit {
        return Some(refuse(ApiError::of_status(StatusCode::URI_TOO_LONG)));
    }
    let headers = request.headers();
    if headers.len() > settings.header_count_limit || bytes_of(headers) > settings.header_bytes_limit {
        return Some(refuse(ApiError::of_status(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)));
    }
    check_parameter_count(MOST_PARAMETERS, request.uri().query().unwrap_or_default()).err().map(refuse)
}

/// Returns the time limit of a request. That of an upload has room for the body.
pub(super) fn time_limit(settings: &HttpSettings, request: &Request) -> Duration {
    let is_upload = UPLOADS.contains(&request.uri().path()) && request.method() == Method::POST;
    if is_upload { settings.request_timeout.saturating_add(UPLOAD_TIME) } else { settings.request_timeout }
}

/// Runs the handler with a time limit, and catches panics. At the limit the handler is dropped. A storage call that has
/// begun is atomic: on SQLite it still completes; on PostgreSQL it commits or rolls back, and the outcome is unknown
/// here.
pub(super) async fn guard(
    limit: Duration,
    answer: impl Future<Output = Result<Response, Infallible>>,
) -> Response {
    let caught = AssertUnwindSafe(tokio::time::timeout(limit, answer)).catch_unwind();
    match caught.await {
        Ok(Ok(Ok(response))) => response,
        Ok(Err(_)) => {
            tracing::warn!(limit_ms = limit.as_millis(), "request took too long");
            refuse(ApiError::of_status(StatusCode::SERVICE_UNAVAILABLE))
        }
        Err(payload) => answer_panic(&*payload),
    }
}

/// Builds the response to a panic: 500. The panic's text is only logged.
fn answer_panic(payload: &(dyn Any + Send)) -> Response {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text");
    tracing::error!(panic = escape_control(text), "request panicked");
    refuse(ApiError::of_status(StatusCode::INTERNAL_SERVER_ERROR))
}

/// Sums the bytes of all header names and values.
fn bytes_of(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}
