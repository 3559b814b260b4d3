//! CORS (Fetch standard, section 3.3) as the wire contract has it: known origins are echoed, with credentials, and
//! every answer varies by `Origin`. Which origins are known is decided in [`crate::origin`].

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use crate::origin::{KnownOrigins, refusal};

const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PATCH, PUT, DELETE");
const ALLOWED_HEADERS: HeaderValue =
    HeaderValue::from_static("authorization, content-type, x-csrf-token, if-match");
const EXPOSED_HEADERS: HeaderValue =
    HeaderValue::from_static("X-Total-Count, X-Page, X-Page-Size, ETag, Retry-After");
/// Seconds that a browser may keep a preflight's answer: short enough that a removed origin is felt soon.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// The layer: answers preflights itself and marks every other answer. A preflight of an unknown origin is 403.
pub(crate) async fn cors(State(origins): State<KnownOrigins>, request: Request, next: Next) -> Response {
    let origin = origins.known_of(request.headers()).cloned();
    let mut response = match (is_preflight(&request), &origin) {
        (true, Some(_)) => preflight(),
        (true, None) => refusal().into_response(),
        (false, _) => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin {
        allow(headers, origin);
    }
    response
}

/// A preflight has a method to ask for (Fetch standard, section 3.3.2); any other OPTIONS goes to the routes.
fn is_preflight(request: &Request) -> bool {
    let has = |name| request.headers().contains_key(name);
    request.method() == Method::OPTIONS && has(ORIGIN) && has(ACCESS_CONTROL_REQUEST_METHOD)
}

fn preflight() -> Response {
    let headers = [
        (ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS),
        (ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS),
        (ACCESS_CONTROL_MAX_AGE, MAX_AGE),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

fn allow(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
}
