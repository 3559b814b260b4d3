//! The guards inside the edge: load, form of the head, time of the answer, panics.

use std::any::Any;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use axum::extract::Request;
use axum::response::Response;
use futures_util::FutureExt;
use http::{HeaderMap, StatusCode};

use super::refuse;
use crate::error::{ApiError, codes, escape_control};
use crate::query::check_parameter_count;
use crate::serve::Overloaded;
use crate::settings::HttpSettings;

/// `Retry-After` where too many requests are in flight. They end in milliseconds.
const OVERLOAD_WAIT: Duration = Duration::from_secs(1);

/// The refusal of a request over `server.max_requests`.
pub(super) fn refuse_overload(request: &Request) -> Option<Response> {
    request.extensions().get::<Overloaded>()?;
    let message = "The service has more requests in flight than it takes at once.";
    Some(refuse(ApiError::new(&codes::SERVICE_BUSY, message).retry_after(OVERLOAD_WAIT)))
}

/// The refusal of a URI or of headers over the limits.
pub(super) fn refuse_form(settings: &HttpSettings, request: &Request) -> Option<Response> {
    let uri_bytes = request.uri().path_and_query().map_or(0, |uri| uri.as_str().len());
    if uri_bytes > settings.uri_limit {
        return Some(refuse(ApiError::of_status(StatusCode::URI_TOO_LONG)));
    }
    let headers = request.headers();
    if headers.len() > settings.header_count_limit || bytes_of(headers) > settings.header_bytes_limit {
        return Some(refuse(ApiError::of_status(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)));
    }
    check_parameter_count(request.uri().query().unwrap_or_default()).err().map(refuse)
}

/// Catches panics, and refuses to take longer. What waits is dropped. A storage call that has begun is atomic: on SQLite
/// it still ends; on PostgreSQL it does all or nothing, and which of them is not known here.
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

/// The answer of a handler that panicked: 500, and the panic's text in the log alone.
fn answer_panic(payload: &(dyn Any + Send)) -> Response {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text");
    tracing::error!(panic = escape_control(text), "request panicked");
    refuse(ApiError::of_status(StatusCode::INTERNAL_SERVER_ERROR))
}

/// Bytes of all names and values.
fn bytes_of(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}
