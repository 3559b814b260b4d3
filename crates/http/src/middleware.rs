//! The middleware around every request: its id, the security headers, size and time limits, the guard against panics,
//! and the access log. Their order is in [`boundary`] and [`respond`]. Limits per client are not here.

mod arrival;
mod forwarding;
mod guards;
mod headers;

use std::convert::Infallible;
use std::fmt::Display;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{MatchedPath, Request};
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_LENGTH;
use http::{HeaderValue, Method};
// A duration for the log: monotonic, and standing still under a paused test clock. No decision hangs on it.
use tokio::time::Instant;
use tower::layer::layer_fn;
use tower::{Service, ServiceExt};
use tracing::Instrument;
use uuid::Uuid;

use self::arrival::Arrival;
use self::forwarding::IgnoredForwarding;

use crate::cors::{Cors, allowed_headers};
use crate::error::{ApiError, Refusal, Shaped, code_for_status, sign};
use crate::origin::OriginPolicy;
use crate::settings::HttpSettings;

/// Source of request ids: the header `X-Request-Id` of an answer, and a field of its log lines. An id that a trusted
/// proxy sends goes before; one that a client sends is not taken over. A closure `Fn() -> Uuid` is one.
pub trait RequestIds: Send + Sync {
    /// The id of the next request.
    fn next_id(&self) -> Uuid;
}

impl<F: Fn() -> Uuid + Send + Sync> RequestIds for F {
    fn next_id(&self) -> Uuid {
        self()
    }
}

/// The outermost middleware.
#[derive(Clone)]
pub struct Middleware {
    settings: Arc<HttpSettings>,
    origins: OriginPolicy,
    ids: Arc<dyn RequestIds>,
    /// `Access-Control-Allow-Headers` of a preflight.
    allowed_headers: HeaderValue,
    ignored: Arc<IgnoredForwarding>,
}

impl Middleware {
    /// The middleware for these settings.
    #[must_use]
    pub fn new(settings: Arc<HttpSettings>, origins: OriginPolicy, ids: Arc<dyn RequestIds>) -> Self {
        let allowed_headers = allowed_headers(&settings.cors_headers);
        Self { settings, origins, ids, allowed_headers, ignored: Arc::default() }
    }

    /// Leaves the warning about untrusted proxies to another instance in the same process: it is logged once.
    #[must_use]
    pub fn without_proxy_warning(mut self) -> Self {
        self.ignored = Arc::new(IgnoredForwarding::silent());
        self
    }

    /// Wraps a finished router, its 404 and 405 included. It is one layer and not five: each layer of a
    /// router costs every request two boxes and a copy of all that is inside of it.
    pub fn wrap(&self, router: Router) -> Router {
        let middleware = Arc::new(self.clone());
        router.layer(layer_fn(move |inside| Wrapped { middleware: Arc::clone(&middleware), inside }))
    }
}

/// The tower service around a route.
#[derive(Clone)]
struct Wrapped<S> {
    middleware: Arc<Middleware>,
    inside: S,
}

impl<S> Service<Request> for Wrapped<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(())) // the route is asked when it is called
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let (middleware, inside) = (Arc::clone(&self.middleware), self.inside.clone());
        Box::pin(async move { Ok(boundary(&middleware, inside, request).await) })
    }
}

/// The outermost step: every response gets its shape, its headers and its access log line here.
async fn boundary<S>(middleware: &Middleware, inside: S, request: Request) -> Response
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    let started = Instant::now();
    let Arrival { client, request_id } =
        Arrival::of(&request, &middleware.settings, || middleware.ids.next_id());
    middleware.ignored.look(&request, &middleware.settings);
    let method = log_name(request.method());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("(none)", MatchedPath::as_str);
    let is_head = request.method() == Method::HEAD;

    let span = tracing::info_span!("request", %request_id, method, route);
    let response = respond(middleware, inside, request).instrument(span).await;

    let mut response = shape(response, &request_id);
    headers::secure(response.headers_mut());
    if middleware.settings.is_https() {
        headers::insist_on_https(response.headers_mut());
    }
    headers::identify(response.headers_mut(), &request_id);
    let response = if is_head { without_body(response) } else { response };

    let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let status = response.status().as_u16();
    let refusal = refusal_of(&response);
    let (error, limit) = (refusal.map(|refusal| refusal.error), refusal.and_then(|refusal| refusal.limit));
    // The address is logged for error responses alone: it is personal data.
    let client = client.filter(|_| refusal.is_some()).map(tracing::field::display);
    tracing::info!(parent: None, %request_id, method, route, status, error, limit, client, ms, "answered");
    response
}

/// Code and limit of a refusal, for its log line; `None` for every other answer. A page for people has no code of its
/// own unless its handler named one.
fn refusal_of(response: &Response) -> Option<Refusal> {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    let named = || response.extensions().get::<Refusal>().copied();
    is_error.then(|| named().unwrap_or_else(|| Refusal::of(code_for_status(status))))
}

/// The steps inside, from the outside in: CORS, then the limits, so that web pages can read those refusals too.
async fn respond<S>(middleware: &Middleware, inside: S, request: Request) -> Response
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    let cors = Cors::of(&middleware.origins, &request);
    if let Some(preflight) = cors.preflight(&middleware.allowed_headers) {
        return cors.mark(preflight);
    }
    let refusal =
        guards::refuse_overload(&request).or_else(|| guards::refuse_form(&middleware.settings, &request));
    let response = match refusal {
        Some(refusal) => refusal,
        None => guards::guard(middleware.settings.request_timeout, inside.oneshot(request)).await,
    };
    cors.mark(response)
}

/// An error that does not come from us (the router's 404 and 405, an extractor of the framework) gets our shape, and
/// every error the request's id.
fn shape(response: Response, request_id: &impl Display) -> Response {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let is_shaped = response.extensions().get::<Shaped>().is_some();
    let response = if is_shaped { response } else { ApiError::of_status(status).reshape(response) };
    sign(response, &request_id.to_string())
}

/// The answer to HEAD: the headers of GET, its `Content-Length` included, and no body (RFC 9110 section 9.3.2).
fn without_body(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    if let Some(length) = body.size_hint().exact() {
        parts.headers.entry(CONTENT_LENGTH).or_insert_with(|| HeaderValue::from(length));
    }
    Response::from_parts(parts, Body::empty())
}

/// The method's name for the log. Clients can invent methods of any length: those are one name.
fn log_name(method: &Method) -> &'static str {
    let known = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
    ];
    let names = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    known.iter().position(|other| other == method).map_or("OTHER", |at| names[at])
}

/// Turns a refusal into an answer; kept here so that the guards read the same.
fn refuse(error: ApiError) -> Response {
    error.into_response()
}
