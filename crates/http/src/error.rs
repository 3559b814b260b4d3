//! The JSON body of every error response: `{error, message, statusCode, nextAction?, nextActions?, field?, reasons?,
//! challenge?, requestId}`. The codes of use cases are in [`latchkey_service::refusal`], those of HTTP alone in
//! [`codes`].

pub mod codes;
mod from_service;
mod log;

use std::borrow::Cow;
use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use latchkey_domain::reason::Reason;
use serde::Serialize;

pub use codes::{ErrorCode, catalogue, code_for_status, status_of};
pub use log::{chain_of, escape_control};

pub type Result<T, E = ApiError> = std::result::Result<T, E>;

/// `Content-Type` of every JSON response.
pub const JSON_CONTENT_TYPE: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");

/// An error response. It is built from an [`ErrorCode`], so that status and code always match.
#[derive(Debug)]
pub struct ApiError {
    /// The `error` field: an error code such as `VALIDATION_ERROR`.
    pub code: &'static str,
    /// The HTTP status and the `statusCode` field.
    pub status: StatusCode,
    /// The `message` field, for people. It contains neither the value of a field nor internal details.
    pub message: Cow<'static, str>,
    /// The `nextAction` field: the remedy, for people.
    pub next_action: Cow<'static, str>,
    /// Time to wait, sent as `Retry-After` in whole seconds, rounded up, at least 1; `None` sends no such header.
    pub retry_after: Option<Duration>,
    /// Optional parts, which few errors have.
    details: Option<Box<Details>>,
    /// The cause of a 5xx. It is logged, never sent.
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// Optional parts of an error. They are boxed, which keeps every `Result<_, ApiError>` small.
#[derive(Debug, Clone, Default)]
struct Details {
    /// The methods that the path supports, comma-separated; sent as `Allow` (RFC 9110 section 10.2.1).
    allow: Option<String>,
    /// The `field`: a key of the body, dotted if it is nested, or the name of a parameter.
    field: Option<String>,
    /// The `reasons`, a machine-readable list.
    reasons: Vec<Reason>,
    /// The `challenge` for a second factor, which the client must answer first.
    challenge: Option<serde_json::Value>,
    /// Name of the limit that caused a 429. It is a field of the log line and not sent.
    limit: Option<&'static str>,
}

/// The JSON body of every error. `nextActions` repeats `nextAction` for clients that read the plural.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ErrorBody<'a> {
    error: &'a str,
    message: &'a str,
    status_code: u16,
    next_action: &'a str,
    next_actions: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    #[serde(skip_serializing_if = "<[Reason]>::is_empty")]
    reasons: &'a [Reason],
    #[serde(skip_serializing_if = "Option::is_none")]
    challenge: Option<&'a serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
}

/// Response extension that marks the body of an error response as made by this crate (JSON or an HTML page). The
/// middleware replaces other error bodies, such as that of the router's 404.
#[derive(Clone, Copy)]
pub(crate) struct Shaped;

/// Response extension with the parts of the error that the access log shows.
#[derive(Clone, Copy)]
pub(crate) struct Refusal {
    pub(crate) error: &'static str,
    pub(crate) limit: Option<&'static str>,
}

impl Refusal {
    /// Returns the log fields of an error response with this code, for an error that is not an exceeded rate limit.
    pub(crate) const fn of(code: &'static ErrorCode) -> Self {
        Self { error: code.name, limit: None }
    }
}

/// Response extension with the parts of an error's body. The middleware uses them to write the body again, with the
/// request id.
#[derive(Clone)]
struct ErrorText(Arc<Text>);

/// The parts of an [`ErrorBody`] other than the request id.
struct Text {
    code: &'static str,
    status: StatusCode,
    message: Cow<'static, str>,
    next_action: Cow<'static, str>,
    details: Option<Box<Details>>,
}

impl Text {
    /// Encodes the body as JSON, followed by a line feed.
    fn body(&self, request_id: Option<&str>) -> Vec<u8> {
        let details = self.details.as_deref();
        let body = ErrorBody {
            error: self.code,
            message: &self.message,
            status_code: self.status.as_u16(),
            next_action: &self.next_action,
            next_actions: &self.next_action,
            field: details.and_then(|details| details.field.as_deref()),
            reasons: details.map_or(&[], |details| &details.reasons),
            challenge: details.and_then(|details| details.challenge.as_ref()),
            request_id,
        };
        let mut bytes = serde_json::to_vec(&body).unwrap_or_default(); // strings and numbers: cannot fail
        bytes.push(b'\n');
        bytes
    }
}

/// Adds the request id to the body of an error response. Other responses, such as HTML pages, stay unchanged.
pub(crate) fn sign(response: Response, request_id: &str) -> Response {
    let Some(ErrorText(text)) = response.extensions().get::<ErrorText>().cloned() else { return response };
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(text.body(Some(request_id))))
}

impl ApiError {
    /// Returns the name of the limit that caused a 429. No response of the API has it.
    #[must_use]
    pub fn limit_name(&self) -> Option<&'static str> {
        self.details.as_ref().and_then(|details| details.limit)
    }

    /// Builds an error with this code and a message of its own.
    #[must_use]
    pub fn new(code: &'static ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), ..Self::from(code) }
    }

    /// Builds a 400 `VALIDATION_ERROR` about one field or parameter, with the message "`field` problem". `problem`
    /// continues the sentence, such as "must be six digits", and does not quote the value.
    #[must_use]
    pub fn validation(field: &str, problem: &str) -> Self {
        Self::new(&codes::VALIDATION_ERROR, format!("`{}` {problem}", escape_control(field))).field(field)
    }

    /// Builds a 500 `INTERNAL_ERROR`. `source` is logged, never sent.
    #[must_use]
    pub fn internal(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::from(&codes::INTERNAL_ERROR).caused_by(source)
    }

    /// Builds a 403 `SECOND_FACTOR_REQUIRED` with the challenge that the client must answer first.
    #[must_use]
    pub(crate) fn second_factor_required(challenge: &impl Serialize) -> Self {
        let mut error = Self::from(&codes::SECOND_FACTOR_REQUIRED);
        error.details_mut().challenge = serde_json::to_value(challenge).ok();
        error
    }

    /// Builds the error for a bare status, such as the router's 404.
    #[must_use]
    pub fn of_status(status: StatusCode) -> Self {
        Self::from(code_for_status(status))
    }

    /// Replaces the code's default next action.
    #[must_use]
    pub fn next_action(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.next_action = text.into();
        self
    }

    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Sets the `Allow` header of a 405.
    #[must_use]
    pub fn allow(mut self, methods: &str) -> Self {
        self.details_mut().allow = Some(methods.to_owned());
        self
    }

    /// Sets the `field`: a key of the body, dotted if it is nested, or a parameter.
    #[must_use]
    pub fn field(mut self, field: &str) -> Self {
        self.details_mut().field = Some(escape_control(field));
        self
    }

    /// Prefixes the `field` with the name of the object that contains it.
    #[must_use]
    pub fn within(mut self, object: &str) -> Self {
        if let Some(field) = &mut self.details_mut().field {
            *field = format!("{object}.{field}");
        }
        self
    }

    #[must_use]
    pub fn reason(mut self, reason: Reason) -> Self {
        self.details_mut().reasons.push(reason);
        self
    }

    /// Sets the name of the exceeded limit, for the log.
    #[must_use]
    fn limit(mut self, name: &'static str) -> Self {
        self.details_mut().limit = Some(name);
        self
    }

    fn details_mut(&mut self) -> &mut Details {
        self.details.get_or_insert_default()
    }

    /// Sets the cause that is logged.
    #[must_use]
    fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Gives a page the status of this error and its `Retry-After`, and logs the error as if it had been sent itself.
    #[must_use]
    pub fn into_page(self, mut page: Response) -> Response {
        self.log_source();
        *page.status_mut() = self.status;
        if let Some(wait) = self.retry_after {
            page.headers_mut().insert(RETRY_AFTER, HeaderValue::from(whole_seconds(wait)));
        }
        page.extensions_mut().insert(Shaped);
        page.extensions_mut().insert(self.refusal());
        page
    }

    fn refusal(&self) -> Refusal {
        Refusal { error: self.code, limit: self.details.as_deref().and_then(|details| details.limit) }
    }

    fn log_source(&self) {
        if let Some(source) = &self.source {
            tracing::error!(code = self.code, cause = chain_of(source.as_ref()), "request failed");
        }
    }

    fn text(&self) -> Text {
        Text {
            code: self.code,
            status: self.status,
            message: self.message.clone(),
            next_action: self.next_action.clone(),
            details: self.details.clone(),
        }
    }

    /// Writes the error's headers: `Content-Type`, `Retry-After`, `Allow`, `WWW-Authenticate`, `Connection`.
    fn write_headers(&self, headers: &mut HeaderMap) {
        headers.insert(CONTENT_TYPE, JSON_CONTENT_TYPE);
        if let Some(wait) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(whole_seconds(wait)));
        }
        let allow = self.details.as_deref().and_then(|details| details.allow.as_deref());
        if let Some(Ok(allow)) = allow.map(HeaderValue::from_str) {
            headers.insert(ALLOW, allow);
        }
        if self.status == StatusCode::UNAUTHORIZED {
            // RFC 9110 section 15.5.2 requires a `WWW-Authenticate` challenge with every 401.
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.status == StatusCode::REQUEST_TIMEOUT {
            // The client may still send the rest of the body, so the connection cannot be used again (RFC 9110
            // section 15.5.9).
            headers.insert(http::header::CONNECTION, HeaderValue::from_static("close"));
        }
    }

    /// Replaces status and body of `response` by those of this error. Headers set by middleware stay.
    pub(crate) fn reshape(&self, response: Response) -> Response {
        let (mut parts, _) = response.into_parts();
        parts.status = self.status;
        parts.headers.remove(CONTENT_LENGTH);
        self.write_headers(&mut parts.headers);
        parts.extensions.insert(Shaped);
        parts.extensions.insert(self.refusal());
        let text = self.text();
        let body = Body::from(text.body(None));
        parts.extensions.insert(ErrorText(Arc::new(text)));
        Response::from_parts(parts, body)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        self.log_source();
        self.reshape(Response::default())
    }
}

/// Rounds a `Retry-After` value (RFC 9110 section 10.2.3) up to whole seconds, at least 1.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1)
}

#[cfg(test)]
mod tests;
