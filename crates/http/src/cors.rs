//! CORS (Fetch standard, section 3.3): allowed origins are echoed, with credentials, and every response varies by
//! `Origin`. [`crate::origin`] decides which origins are allowed.

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use crate::origin::{OriginPolicy, refusal};

const ALLOWED_METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PATCH, PUT, DELETE");
/// Request headers that every app may send: our own, and those of tracing (W3C Trace Context, Baggage, Sentry).
const ALLOWED_HEADERS: &str = "authorization, content-type, x-csrf-token, if-match, x-api-key, traceparent, tracestate, \
                               baggage, sentry-trace";
const EXPOSED_HEADERS: HeaderValue =
    HeaderValue::from_static("X-Total-Count, X-Page, X-Page-Size, ETag, Retry-After, X-Request-Id");
/// Time in seconds for which a browser may cache a preflight response: two hours, the maximum in Chromium.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");
/// Path of the development pages, which no other web page may read.
const PAGES: &str = "/dev";

/// Builds the value of `Access-Control-Allow-Headers`, with the names from `server.cors_headers`.
pub(crate) fn allowed_headers(more: &[String]) -> HeaderValue {
    let names: Vec<&str> = std::iter::once(ALLOWED_HEADERS).chain(more.iter().map(String::as_str)).collect();
    // The settings accept only valid header names.
    HeaderValue::from_str(&names.join(", ")).unwrap_or(HeaderValue::from_static(ALLOWED_HEADERS))
}

/// The CORS decision for one request.
pub(crate) struct Cors {
    /// The request's origin, if it is allowed.
    origin: Option<HeaderValue>,
    is_preflight: bool,
}

impl Cors {
    /// Reads the method, path and `Origin` of a request.
    pub(crate) fn of(origins: &OriginPolicy, request: &Request) -> Self {
        let is_page = is_under(request.uri().path(), PAGES);
        let origin = origins.allowed_of(request.headers()).filter(|_| !is_page).cloned();
        Self { origin, is_preflight: is_preflight(request) }
    }

    /// Returns the response to a preflight request, which is 403 if the origin is not allowed; `None` for any other
    /// request.
    pub(crate) fn preflight(&self, allowed_headers: &HeaderValue) -> Option<Response> {
        match (self.is_preflight, &self.origin) {
            (false, _) => None,
            (true, Some(_)) => Some(preflight(allowed_headers)),
            (true, None) => Some(refusal().into_response()),
        }
    }

    /// Adds the CORS headers to a response.
    pub(crate) fn mark(self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        headers.append(VARY, HeaderValue::from_static("Origin"));
        if let Some(origin) = self.origin {
            allow(headers, origin);
        }
        response
    }
}

/// True for `root` and every path below it.
fn is_under(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// True for a preflight request: an OPTIONS request with the header `Access-Control-Request-Method` (Fetch standard,
/// section 3.3.2). Any other OPTIONS request goes to the routes.
fn is_preflight(request: &Request) -> bool {
    let has = |name| request.headers().contains_key(name);
    request.method() == Method::OPTIONS && has(ORIGIN) && has(ACCESS_CONTROL_REQUEST_METHOD)
}

fn preflight(allowed_headers: &HeaderValue) -> Response {
    let headers = [
        (ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS),
        (ACCESS_CONTROL_ALLOW_HEADERS, allowed_headers.clone()),
        (ACCESS_CONTROL_MAX_AGE, MAX_AGE),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

fn allow(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
}
