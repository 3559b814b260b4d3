//! Tests of the body and the headers of error responses.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use axum::response::IntoResponse;
use http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use http_body_util::BodyExt;
use latchkey_domain::limits::Limited;
use latchkey_domain::reason::Reason;
use latchkey_service::Error;
use serde_json::{Value, json};

use super::*;

async fn body_of(response: Response) -> Value {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&bytes).unwrap()
}

#[tokio::test]
async fn body_has_the_fields_of_the_contract() {
    let response = ApiError::from(&codes::INVALID_CREDENTIALS).into_response();
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(response.headers()[CONTENT_TYPE], "application/json; charset=utf-8");
    assert_eq!(response.headers()[WWW_AUTHENTICATE], "Bearer");
    assert_eq!(
        body_of(response).await,
        json!({
            "error": "INVALID_CREDENTIALS",
            "message": "The login credentials are invalid.",
            "statusCode": 401,
            "nextAction": "Check email and password.",
            "nextActions": "Check email and password.",
        })
    );
}

#[tokio::test]
async fn validation_names_the_field() {
    let error = Error::Validation {
        field: "avatar_url",
        reason: Reason::InvalidFormat,
        problem: "must be a valid URL".into(),
    };
    let body = body_of(ApiError::from(error).into_response()).await;
    assert_eq!(body["error"], "VALIDATION_ERROR");
    assert_eq!(body["message"], "`avatar_url` must be a valid URL");
    assert_eq!((&body["field"], &body["reasons"]), (&json!("avatar_url"), &json!(["invalid_format"])));
}

#[tokio::test]
async fn signed_refusal_carries_the_id_and_ends_in_a_line_feed() {
    let response = sign(ApiError::from(&codes::INVALID_CREDENTIALS).into_response(), "the-id");
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    assert!(bytes.ends_with(b"}\n"), "{bytes:?}");
    assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap()["requestId"], "the-id");
}

#[test]
fn refusals_fit_into_a_result() {
    assert!(size_of::<ApiError>() < 128, "{}", size_of::<ApiError>());
}

#[test]
fn retry_after_is_whole_seconds_and_at_least_one() {
    for (wait, seconds) in [(0, "1"), (1, "1"), (1000, "1"), (1001, "2"), (59_999, "60")] {
        let retry_after = Duration::from_millis(wait);
        let response = ApiError::from(Error::from(Limited { limit: "sign-up", retry_after })).into_response();
        assert_eq!(response.headers()[RETRY_AFTER], seconds);
    }
}

#[test]
fn every_503_says_when_to_come_back() {
    for code in catalogue().iter().filter(|code| code.status == 503) {
        assert!(
            ApiError::new(code, "x").into_response().headers().contains_key(RETRY_AFTER),
            "{}",
            code.name
        );
    }
}

#[tokio::test]
async fn internals_are_not_shown() {
    let body = body_of(ApiError::from(Error::internal("table users is gone")).into_response()).await;
    assert_eq!(body["error"], "INTERNAL_ERROR");
    assert!(!body.to_string().contains("users"));
}

#[test]
fn allow_lists_the_methods() {
    let response = ApiError::of_status(StatusCode::METHOD_NOT_ALLOWED).allow("GET, HEAD").into_response();
    assert_eq!(response.headers()[ALLOW], "GET, HEAD");
}

#[derive(Debug, thiserror::Error)]
#[error("outer\nline")]
struct Outer(#[source] std::io::Error);

#[test]
fn chain_is_one_line_with_every_source() {
    let chain = chain_of(&Outer(std::io::Error::other("inner\r\u{1b}[31m\u{202e}")));
    assert_eq!(chain, "outer\\u{a}line: inner\\u{d}\\u{1b}[31m\\u{202e}");
}
