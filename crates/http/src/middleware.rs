//! The middleware around every request: request id, security headers, limits on size and time, panic handler, access
//! log. [`boundary`] and [`respond`] define the order. Rate limits per client are in the service.

mod arrival;
mod forwarding;
mod guards;
mod headers;
mod trace_context;

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
// Used only to measure durations for the log. It is monotonic, and a paused test clock stops it.
use tokio::time::Instant;
use tower::layer::layer_fn;
use tower::{Service, ServiceExt};
use tracing::{Instrument, Span};
use uuid::Uuid;

use self::arrival::Arrival;
use self::forwarding::IgnoredForwarding;
use self::trace_context::TraceContext;

use crate::cors::{Cors, allowed_headers};
use crate::error::{ApiError, Refusal, Shaped, code_for_status, sign};
use crate::metrics::{Answer, HttpMetrics};
use crate::origin::OriginPolicy;
use crate::settings::HttpSettings;

/// Generator of request ids, which are sent as `X-Request-Id` and logged. An id sent by a trusted proxy takes
/// precedence; one sent by any other client is ignored. A closure `Fn() -> Uuid` implements the trait.
pub trait RequestIds: Send + Sync {
    fn next_id(&self) -> Uuid;
}

impl<F: Fn() -> Uuid + Send + Sync> RequestIds for F {
    fn next_id(&self) -> Uuid {
        self()
    }
}

/// The outermost middleware and its settings.
#[derive(Clone)]
pub struct Middleware {
    settings: Arc<HttpSettings>,
    origins: OriginPolicy,
    ids: Arc<dyn RequestIds>,
    allowed_headers: HeaderValue,
    ignored: Arc<IgnoredForwarding>,
    metrics: Option<Arc<HttpMetrics>>,
    /// False for HTML pages: no page of another origin may read them.
    has_cors: bool,
}

impl Middleware {
    #[must_use]
    pub fn new(settings: Arc<HttpSettings>, origins: OriginPolicy, ids: Arc<dyn RequestIds>) -> Self {
        let allowed_headers = allowed_headers(&settings.cors_headers);
        Self {
            settings,
            origins,
            ids,
            allowed_headers,
            ignored: Arc::default(),
            metrics: None,
            has_cors: true,
        }
    }

    /// Records all requests in these metrics.
    #[must_use]
    pub fn with_metrics(self, metrics: Arc<HttpMetrics>) -> Self {
        Self { metrics: Some(metrics), ..self }
    }

    /// Disables the warning about forwarding headers of untrusted peers, if another instance in this process logs it
    /// already.
    #[must_use]
    pub fn without_proxy_warning(mut self) -> Self {
        self.ignored = Arc::new(IgnoredForwarding::silent());
        self
    }

    /// Returns the same middleware without CORS, for HTML pages.
    #[must_use]
    pub fn for_pages(&self) -> Self {
        Self { has_cors: false, ..self.clone() }
    }

    /// Returns the same middleware for pages at another public URL, without CORS.
    #[must_use]
    pub fn for_pages_at(&self, settings: Arc<HttpSettings>) -> Self {
        Self { settings, ..self.for_pages() }
    }

    /// Wraps a finished router, its 404 and 405 responses included. All steps of the middleware are one tower layer,
    /// because each layer of a router costs every request two boxed futures and a clone of the layers inside it.
    pub fn wrap(&self, router: Router) -> Router {
        let middleware = Arc::new(self.clone());
        router.layer(layer_fn(move |inside| Wrapped { middleware: Arc::clone(&middleware), inside }))
    }
}

/// The tower service that [`Middleware::wrap`] puts around a router.
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
        Poll::Ready(Ok(())) // readiness is checked in `call`
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let (middleware, inside) = (Arc::clone(&self.middleware), self.inside.clone());
        Box::pin(async move { Ok(boundary(&middleware, inside, request).await) })
    }
}

/// Runs the outermost step: gives every response its error body, headers and access log line.
async fn boundary<S>(middleware: &Middleware, inside: S, request: Request) -> Response
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    let started = Instant::now();
    let measured = middleware.metrics.as_deref().map(HttpMetrics::begin);
    let Arrival { client, request_id } =
        Arrival::of(&request, &middleware.settings, || middleware.ids.next_id());
    middleware.ignored.look(&request, &middleware.settings);
    let method = log_name(request.method());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("(none)", MatchedPath::as_str);
    let is_head = request.method() == Method::HEAD;

    let trace = TraceContext::of(&request, &middleware.settings, || middleware.ids.next_id());
    let span = request_span(&request_id, method, route, trace.as_ref());
    let traced = trace.is_some().then(|| span.clone());
    let response = respond(middleware, inside, request).instrument(span).await;

    let mut response = shape(response, &request_id);
    headers::secure(response.headers_mut());
    if middleware.settings.is_https() {
        headers::insist_on_https(response.headers_mut());
    }
    headers::identify(response.headers_mut(), &request_id);
    let response = if is_head { without_body(response) } else { response };

    let time = started.elapsed();
    let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let status = response.status().as_u16();
    let refusal = refusal_of(&response);
    let (error, limit) = (refusal.map(|refusal| refusal.error), refusal.and_then(|refusal| refusal.limit));
    if let Some(measured) = measured {
        measured.answered(&Answer { route, method, status: response.status(), limit, time });
    }
    // Addresses are personal data, so they are logged for error responses only.
    let client = client.filter(|_| refusal.is_some()).map(tracing::field::display);
    let trace_id = trace.as_ref().map(|trace| trace.trace_id.as_str());
    tracing::info!(
        parent: None, %request_id, trace_id, method, route, status, error, limit, client, ms, "answered"
    );
    if let Some(span) = &traced {
        tracing::info!(target: "traces", parent: span, status, is_error = status >= 500);
    }
    response
}

/// Builds the span of a request. The parent in another process is `None` unless a trusted proxy named it.
fn request_span(request_id: &impl Display, method: &str, route: &str, trace: Option<&TraceContext>) -> Span {
    let trace_id = trace.map(|trace| trace.trace_id.as_str());
    let parent_id = trace.and_then(|trace| trace.parent_id.as_deref());
    let is_sampled = trace.filter(|trace| trace.is_sampled).map(|_| true);
    tracing::info_span!("request", %request_id, method, route, trace_id, parent_id, is_sampled)
}

/// Returns the error code of an error response and the name of the exceeded limit, if any, for the access log; `None`
/// for other responses. An HTML page has the code that its handler named, or else the code for its status.
fn refusal_of(response: &Response) -> Option<Refusal> {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    let named = || response.extensions().get::<Refusal>().copied();
    is_error.then(|| named().unwrap_or_else(|| Refusal::of(code_for_status(status))))
}

/// Runs the inner steps: CORS, then limits, then the handler. CORS comes first so that web pages can read refusals by
/// the limits.
async fn respond<S>(middleware: &Middleware, inside: S, request: Request) -> Response
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    if !middleware.has_cors {
        return limited(middleware, inside, request).await;
    }
    let cors = Cors::of(&middleware.origins, &request);
    if let Some(preflight) = cors.preflight(&middleware.allowed_headers) {
        return cors.mark(preflight);
    }
    cors.mark(limited(middleware, inside, request).await)
}

/// Runs the limits on load, size and time, then the handler.
async fn limited<S>(middleware: &Middleware, inside: S, request: Request) -> Response
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    let refusal =
        guards::refuse_overload(&request).or_else(|| guards::refuse_form(&middleware.settings, &request));
    if let Some(refusal) = refusal {
        refusal
    } else {
        let limit = guards::time_limit(&middleware.settings, &request);
        guards::guard(limit, inside.oneshot(request)).await
    }
}

/// Replaces the body of errors made outside this crate (the router's 404 and 405, axum's extractors) by our JSON body,
/// and adds the request id to the body of every error.
fn shape(response: Response, request_id: &impl Display) -> Response {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let is_shaped = response.extensions().get::<Shaped>().is_some();
    let response = if is_shaped { response } else { ApiError::of_status(status).reshape(response) };
    sign(response, &request_id.to_string())
}

/// Builds the response to HEAD: the headers of GET, `Content-Length` included, and no body (RFC 9110 section 9.3.2).
fn without_body(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    if let Some(length) = body.size_hint().exact() {
        parts.headers.entry(CONTENT_LENGTH).or_insert_with(|| HeaderValue::from(length));
    }
    Response::from_parts(parts, Body::empty())
}

/// Returns the method's name for the log. Unknown methods get one common name, because clients can invent any.
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

fn refuse(error: ApiError) -> Response {
    error.into_response()
}
