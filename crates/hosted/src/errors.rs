//! Error pages. A handler returns a [`PageError`]. The outermost layer replaces the body of each error response by a
//! page, so refusals of the router and of the middleware become pages too.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_LENGTH, RETRY_AFTER};
use http::{HeaderMap, Method, StatusCode, Uri};
use latchkey_http::error::{ApiError, ErrorCode, codes};
use latchkey_http::query::Query;
use latchkey_pages::views::{ErrorCause, ErrorPage};
use latchkey_pages::{Frame, TemplateError, Wait, When};
use latchkey_service::refusal::AUTH_UNAUTHORIZED;

use crate::hosted::Hosted;
use crate::language;
use crate::response::{IsPage, html};

/// The request names another host (RFC 9110 section 15.5.20). Only pages respond with it, so it is not in the
/// catalogue of errors.
const MISDIRECTED: ErrorCode = ErrorCode { name: "MISDIRECTED_REQUEST", status: 421, ..codes::NOT_FOUND };

const SIGN_IN: &str = "/auth/sign-in";

/// An error that is shown as a page.
pub(crate) struct PageError {
    /// Status, headers, and the fields of the access log.
    error: ApiError,
    shown: Box<Shown>,
}

/// Content of an error page, as a response extension. Without it, the status determines the content.
#[derive(Clone, Default)]
pub(crate) struct Shown {
    cause: Option<ErrorCause>,
    /// URL at which the user can continue; `None` if only the app knows it.
    pub(crate) next: Option<String>,
}

/// What the error page takes over from the request: its address and the wanted languages.
pub(crate) struct Wish {
    /// Path and query of the page without `locale`.
    pub(crate) here: String,
    /// The wanted languages, before those of the browser.
    pub(crate) languages: Vec<String>,
}

/// Request extension in which a visit leaves its wish for the layer of error pages.
pub(crate) type Told = Arc<OnceLock<Wish>>;

/// A request that got an error response, with that response.
pub(crate) struct Failed<'a> {
    wish: &'a Wish,
    headers: &'a HeaderMap,
    pub(crate) response: &'a Response,
}

/// A state that renders error pages.
pub(crate) trait ErrorPages: Clone + Send + Sync + 'static {
    fn error_page(&self, failed: &Failed<'_>) -> Result<String, TemplateError>;
}

impl PageError {
    fn new(code: &'static ErrorCode, cause: ErrorCause) -> Self {
        Self { error: code.into(), shown: Box::new(Shown { cause: Some(cause), next: None }) }
    }

    pub(crate) fn not_found() -> Self {
        Self::new(&codes::NOT_FOUND, ErrorCause::NotFound)
    }

    /// The request cannot be read.
    pub(crate) fn bad_request() -> Self {
        Self::new(&codes::VALIDATION_ERROR, ErrorCause::BadRequest)
    }

    /// The request of an app is not valid: 400, and never a redirect.
    pub(crate) fn bad_target() -> Self {
        Self::new(&codes::REDIRECT_NOT_ALLOWED, ErrorCause::BadTarget)
    }

    /// The flow is expired, or of another browser.
    pub(crate) fn bad_flow() -> Self {
        Self::new(&codes::VALIDATION_ERROR, ErrorCause::BadFlow)
    }

    /// The flow is expired, and is not one of an app.
    pub(crate) fn expired() -> Self {
        Self::new(&codes::VALIDATION_ERROR, ErrorCause::Expired)
    }

    /// The form does not come from our own page in this browser.
    pub(crate) fn stale_form() -> Self {
        Self::new(&codes::INVALID_CSRF_TOKEN, ErrorCause::StaleForm)
    }

    /// A prefetch or `HEAD` of an address that acts.
    pub(crate) fn forbidden() -> Self {
        Self::new(&codes::FORBIDDEN, ErrorCause::Forbidden)
    }

    pub(crate) fn wrong_host() -> Self {
        Self::new(&MISDIRECTED, ErrorCause::WrongHost)
    }

    /// Adds the address at which the person can go on.
    pub(crate) fn with_next(mut self, next: String) -> Self {
        self.shown.next = Some(next);
        self
    }

    /// Returns the code that the API has for the error.
    pub(crate) const fn code(&self) -> &'static str {
        self.error.code
    }

    pub(crate) fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        ApiError::internal(source).into()
    }
}

impl From<ApiError> for PageError {
    fn from(error: ApiError) -> Self {
        // The session ended after the request had begun: what ended leads to the sign-in, as everywhere.
        let has_ended = error.code == AUTH_UNAUTHORIZED.name;
        let shown =
            if has_ended { Self::expired().with_next(SIGN_IN.to_owned()).shown } else { Box::default() };
        Self { error, shown }
    }
}

impl From<latchkey_service::Error> for PageError {
    fn from(error: latchkey_service::Error) -> Self {
        ApiError::from(error).into()
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let mut response = self.error.into_response();
        response.extensions_mut().insert(*self.shown);
        response
    }
}

impl Wish {
    /// Returns the wish of a request that failed before it was a visit.
    fn of(uri: &Uri) -> Self {
        let query = Query::parse(uri.query().unwrap_or_default());
        let locale = query.and_then(|query| query.optional("locale")).unwrap_or_default();
        Self { here: uri.path().to_owned(), languages: locale.into_iter().collect() }
    }
}

/// Layer that replaces the body of every error response by a page.
pub(crate) async fn show<S: ErrorPages>(
    State(state): State<S>,
    mut request: Request,
    next: Next,
) -> Response {
    let (uri, headers, told) = (request.uri().clone(), request.headers().clone(), Told::default());
    request.extensions_mut().insert(Arc::clone(&told));
    let is_head = request.method() == Method::HEAD;
    let response = next.run(request).await;
    let is_error = response.status().is_client_error() || response.status().is_server_error();
    if !is_error || response.extensions().get::<IsPage>().is_some() {
        return response;
    }
    let wish = told.get_or_init(|| Wish::of(&uri));
    let failed = Failed { wish, headers: &headers, response: &response };
    let page =
        html(response.status(), state.error_page(&failed).unwrap_or_else(|error| failed.plain(&error)));
    let page = with_headers(page, &response);
    if is_head { without_body(page) } else { page }
}

impl ErrorPages for Hosted {
    fn error_page(&self, failed: &Failed<'_>) -> Result<String, TemplateError> {
        let view =
            ErrorPage { cause: failed.cause(), request_id: failed.request_id(), next: failed.shown().next };
        let frame = Frame::new(&failed.wish.here, When(self.service.now()));
        let wanted: Vec<_> = failed.wish.languages.iter().map(String::as_str).collect();
        let language = language::choose(self, &wanted, failed.headers);
        self.pages.render(language, &frame, &view)
    }
}

impl Failed<'_> {
    pub(crate) fn shown(&self) -> Shown {
        self.response.extensions().get::<Shown>().cloned().unwrap_or_default()
    }

    /// Returns an extension of the error response.
    pub(crate) fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.response.extensions().get()
    }

    pub(crate) fn cause(&self) -> ErrorCause {
        self.shown().cause.unwrap_or_else(|| cause_of(self.response))
    }

    pub(crate) fn request_id(&self) -> String {
        let id = self.response.headers().get("x-request-id").and_then(|id| id.to_str().ok());
        id.unwrap_or_default().to_owned()
    }

    /// The operator's own error template fails to render in a case that the check at start does not cover.
    fn plain(&self, error: &TemplateError) -> String {
        let error: &(dyn std::error::Error + 'static) = error;
        tracing::error!(cause = latchkey_http::error::chain_of(error), "an error page cannot be rendered");
        format!("<!doctype html>\n<title>{0}</title>\n<p>{0}</p>\n", self.response.status())
    }
}

/// Returns the cause of an error response of the router, an extractor or the middleware, by its status.
fn cause_of(response: &Response) -> ErrorCause {
    let wait = || {
        let seconds = response.headers().get(RETRY_AFTER).and_then(|seconds| seconds.to_str().ok());
        Wait(Duration::from_secs(seconds.and_then(|seconds| seconds.parse().ok()).unwrap_or(1)))
    };
    match response.status() {
        StatusCode::NOT_FOUND => ErrorCause::NotFound,
        StatusCode::FORBIDDEN => ErrorCause::Forbidden,
        StatusCode::TOO_MANY_REQUESTS => ErrorCause::Throttled { wait: wait() },
        StatusCode::SERVICE_UNAVAILABLE => ErrorCause::Busy { wait: wait() },
        status if status.is_client_error() => ErrorCause::BadRequest,
        _ => ErrorCause::Internal,
    }
}

/// Adds the headers of the error response that the page does not set itself: request id, `Retry-After`, `Allow`,
/// HSTS.
fn with_headers(mut page: Response, response: &Response) -> Response {
    for (name, value) in response.headers() {
        if *name != CONTENT_LENGTH && !page.headers().contains_key(name) {
            page.headers_mut().insert(name, value.clone());
        }
    }
    page
}

/// Builds the response to `HEAD`: the headers of the page, with its length, and no body.
fn without_body(page: Response) -> Response {
    let (mut parts, body) = page.into_parts();
    if let Some(length) = body.size_hint().exact() {
        parts.headers.insert(CONTENT_LENGTH, length.into());
    }
    Response::from_parts(parts, Body::empty())
}
