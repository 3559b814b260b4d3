//! The error codes that HTTP alone makes, and the catalogue of all codes, those of the service included. Error
//! responses, `docs/errors.md` and the `OpenAPI` document are derived from the catalogue.

use std::sync::LazyLock;

use http::StatusCode;
pub use latchkey_service::Refusal as ErrorCode;
pub use latchkey_service::refusal::*;
use latchkey_service::{refusal, refusals};

refusals! {
    VALIDATION_ERROR 400 "The request was refused.",
        when "a field, a parameter or the body is missing or wrong; the message names it",
        next "Correct the field that the message names and send the request again.";
    METHOD_NOT_ALLOWED 405 "This path does not have this method.",
        when "the path exists and not with this method; `Allow` lists the methods",
        next "Use one of the methods in the `Allow` header.";
    REQUEST_TIMEOUT 408 "The body of the request did not arrive in time.",
        when "the body of the request did not arrive in time",
        next "Send the request again.";
    PAYLOAD_TOO_LARGE 413 "The body of the request is too large.",
        when "the body is larger than this route takes",
        next "Send a smaller body.";
    URI_TOO_LONG 414 "Path and query string are too long.",
        when "path and query string are too long together",
        next "Shorten the query string.";
    UNSUPPORTED_MEDIA_TYPE 415 "The body must be JSON in UTF-8.",
        when "the body is not declared as JSON in UTF-8",
        next "Send the body as JSON with `Content-Type: application/json`.";
    HEADERS_TOO_LARGE 431 "The headers of the request are too large.",
        when "the request has too many headers, or too much in them",
        next "Send fewer and smaller headers; clearing the cookies of this site may help.";
    INTERNAL_ERROR 500 "Something went wrong on our side.",
        when "a fault of the service; the log knows more under the answer's `requestId`",
        next "Try again; if it stays, give the `requestId` of this answer to the operator.";
}

static ALL: LazyLock<Vec<&ErrorCode>> = LazyLock::new(|| {
    let capabilities = refusal::CAPABILITIES.iter().copied().flatten();
    let mut all: Vec<_> = ROWS.iter().chain(capabilities).copied().collect();
    all.sort_by_key(|row| row.status);
    all
});

/// Returns the catalogue: every error code once, in the order of the statuses.
#[must_use]
pub fn catalogue() -> &'static [&'static ErrorCode] {
    &ALL
}

#[must_use]
pub fn status_of(row: &ErrorCode) -> StatusCode {
    StatusCode::from_u16(row.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Returns the error code for a response that has only a status, such as the router's 404.
#[must_use]
pub fn code_for_status(status: StatusCode) -> &'static ErrorCode {
    match status {
        StatusCode::UNAUTHORIZED => &AUTH_UNAUTHORIZED,
        StatusCode::FORBIDDEN => &FORBIDDEN,
        StatusCode::NOT_FOUND => &NOT_FOUND,
        StatusCode::METHOD_NOT_ALLOWED => &METHOD_NOT_ALLOWED,
        StatusCode::REQUEST_TIMEOUT => &REQUEST_TIMEOUT,
        StatusCode::PRECONDITION_FAILED => &PRECONDITION_FAILED,
        StatusCode::PAYLOAD_TOO_LARGE => &PAYLOAD_TOO_LARGE,
        StatusCode::URI_TOO_LONG => &URI_TOO_LONG,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => &UNSUPPORTED_MEDIA_TYPE,
        StatusCode::TOO_MANY_REQUESTS => &TOO_MANY_REQUESTS,
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => &HEADERS_TOO_LARGE,
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => &SERVICE_BUSY,
        status if status.is_client_error() => &VALIDATION_ERROR,
        _ => &INTERNAL_ERROR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_listed_once_and_is_an_error() {
        for (at, code) in catalogue().iter().enumerate() {
            assert!((400..600).contains(&code.status), "{}", code.name);
            assert!(!catalogue()[at + 1..].iter().any(|other| other.name == code.name), "{}", code.name);
        }
    }

    #[test]
    fn bare_statuses_get_the_code_of_the_same_status() {
        for status in [403, 404, 405, 408, 412, 413, 414, 415, 429, 431, 500, 503] {
            let status = StatusCode::from_u16(status).unwrap_or_default();
            assert_eq!(status_of(code_for_status(status)), status);
        }
        assert_eq!(code_for_status(StatusCode::IM_A_TEAPOT).status, 400);
    }
}
