//! The one shape of every refusal: `{error, message, statusCode, nextAction?, nextActions?, field?, reasons?,
//! requestId}`. The rows
//! of use cases are in [`latchkey_service::refusal`], those of HTTP alone in [`codes`].

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

/// The result of handlers and extractors.
pub type Result<T, E = ApiError> = std::result::Result<T, E>;

/// `Content-Type` of every JSON answer.
pub const JSON_CONTENT_TYPE: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");

/// A refusal as the client sees it. Made of an [`ErrorCode`], so that status and code always go together.
#[derive(Debug)]
pub struct ApiError {
    /// The `error` field: a name of the catalogue.
    pub code: &'static str,
    /// The HTTP status and the `statusCode` field.
    pub status: StatusCode,
    /// For people. Never the value of a field, never anything internal.
    pub message: Cow<'static, str>,
    /// The remedy, for people.
    pub next_action: Cow<'static, str>,
    /// Becomes `Retry-After`, in whole seconds, rounded up, at least 1.
    pub retry_after: Option<Duration>,
    /// Parts that few errors have.
    details: Option<Box<Details>>,
    /// The cause of a 5xx, for the log alone.
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// Parts of a refusal that most do not have, kept apart so that a `Result` stays small.
#[derive(Debug, Clone, Default)]
struct Details {
    /// Becomes `Allow`: the methods that the path has, comma-separated (RFC 9110 section 10.2.1).
    allow: Option<String>,
    /// The `field`: the key of the body, dotted where it is nested, or the parameter.
    field: Option<String>,
    /// The `reasons`, for programs.
    reasons: Vec<Reason>,
    /// The limit behind a 429: for the log, where it is a field.
    limit: Option<&'static str>,
}

/// The body of every error (`ErrorResponse` of the contract): `nextActions` repeats `nextAction`
/// for clients that read the plural.
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
    request_id: Option<&'a str>,
}

/// Marks an answer that already has its final shape, so that the middleware leaves its body alone.
#[derive(Clone, Copy)]
pub(crate) struct Shaped;

/// The fields of an error in the access log; an extension of its response.
#[derive(Clone, Copy)]
pub(crate) struct Refusal {
    pub(crate) error: &'static str,
    pub(crate) limit: Option<&'static str>,
}

impl Refusal {
    /// A refusal with this code, by no limit.
    pub(crate) const fn of(code: &'static ErrorCode) -> Self {
        Self { error: code.name, limit: None }
    }
}

/// The text of a refusal, an extension of its answer: the middleware writes it once more with the request's id.
#[derive(Clone)]
struct ErrorText(Arc<Text>);

/// The parts of an [`ErrorBody`] but the request's id.
struct Text {
    code: &'static str,
    status: StatusCode,
    message: Cow<'static, str>,
    next_action: Cow<'static, str>,
    details: Option<Box<Details>>,
}

impl Text {
    /// The JSON text, with a line feed behind it.
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
            request_id,
        };
        let mut bytes = serde_json::to_vec(&body).unwrap_or_default(); // strings and numbers only: cannot fail
        bytes.push(b'\n');
        bytes
    }
}

/// Gives a refusal the id of its request. A page for people stays as it is.
pub(crate) fn sign(response: Response, request_id: &str) -> Response {
    let Some(ErrorText(text)) = response.extensions().get::<ErrorText>().cloned() else { return response };
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(text.body(Some(request_id))))
}

impl ApiError {
    /// The refusal of a row, with another message.
    #[must_use]
    pub fn new(code: &'static ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), ..Self::from(code) }
    }

    /// 400 `VALIDATION_ERROR` about one field or parameter: "`field` problem". `problem` goes on after the name,
    /// such as "must be six digits", and does not repeat the value.
    #[must_use]
    pub fn validation(field: &str, problem: &str) -> Self {
        Self::new(&codes::VALIDATION_ERROR, format!("`{}` {problem}", escape_control(field))).field(field)
    }

    /// 500 `INTERNAL_ERROR`. The source is logged, and never shown.
    #[must_use]
    pub fn internal(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::from(&codes::INTERNAL_ERROR).caused_by(source)
    }

    /// A refusal for a bare status, such as the router's 404.
    #[must_use]
    pub fn of_status(status: StatusCode) -> Self {
        Self::from(code_for_status(status))
    }

    /// With another next action than the code's own.
    #[must_use]
    pub fn next_action(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.next_action = text.into();
        self
    }

    /// With the time to wait.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// With the list of methods of a 405.
    #[must_use]
    pub fn allow(mut self, methods: &str) -> Self {
        self.details_mut().allow = Some(methods.to_owned());
        self
    }

    /// About this key of the body, dotted where it is nested, or this parameter.
    #[must_use]
    pub fn field(mut self, field: &str) -> Self {
        self.details_mut().field = Some(escape_control(field));
        self
    }

    /// With its field as one of this object.
    #[must_use]
    pub fn within(mut self, object: &str) -> Self {
        if let Some(field) = &mut self.details_mut().field {
            *field = format!("{object}.{field}");
        }
        self
    }

    /// For one more reason.
    #[must_use]
    pub fn reason(mut self, reason: Reason) -> Self {
        self.details_mut().reasons.push(reason);
        self
    }

    /// With the name of the limit that refused.
    #[must_use]
    fn limit(mut self, name: &'static str) -> Self {
        self.details_mut().limit = Some(name);
        self
    }

    fn details_mut(&mut self) -> &mut Details {
        self.details.get_or_insert_default()
    }

    /// With what the log shall say.
    #[must_use]
    fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
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

    /// The headers that go with the error.
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
            // RFC 9110 section 15.5.2 demands a challenge with every 401.
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.status == StatusCode::REQUEST_TIMEOUT {
            // The rest of the body may still come: the connection cannot be used again (RFC 9110 section 15.5.9).
            headers.insert(http::header::CONNECTION, HeaderValue::from_static("close"));
        }
    }

    /// Gives `response` the shape of this error and keeps the headers that layers put there.
    pub(crate) fn reshape(&self, response: Response) -> Response {
        let (mut parts, _) = response.into_parts();
        parts.status = self.status;
        parts.headers.remove(CONTENT_LENGTH);
        self.write_headers(&mut parts.headers);
        parts.extensions.insert(Shaped);
        let limit = self.details.as_deref().and_then(|details| details.limit);
        parts.extensions.insert(Refusal { error: self.code, limit });
        let text = self.text();
        let body = Body::from(text.body(None));
        parts.extensions.insert(ErrorText(Arc::new(text)));
        Response::from_parts(parts, body)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        if let Some(source) = &self.source {
            tracing::error!(code = self.code, cause = chain_of(source.as_ref()), "request failed");
        }
        self.reshape(Response::default())
    }
}

/// Seconds as `Retry-After` has them (RFC 9110 section 10.2.3): whole, rounded up, at least 1.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1)
}

#[cfg(test)]
mod tests;
