//! Tests of bodies and query strings.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use http::Request;
use http_body_util::BodyExt;

use crate::app::{get_of, post_of, send};

async fn message_for(body: impl Into<Body>) -> String {
    let answer = send(post_of("/sign-up", body)).await;
    answer.assert_error(400, "VALIDATION_ERROR");
    answer.json()["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn missing_field_is_named() {
    assert_eq!(message_for(r#"{"password":"x"}"#).await, "`email` is required");
}

#[tokio::test]
async fn null_for_a_required_field_is_named() {
    assert_eq!(message_for(r#"{"email":null,"password":"x"}"#).await, "`email` must be a string, not null");
}

#[tokio::test]
async fn duplicate_key_is_refused() {
    assert_eq!(message_for(r#"{"email":"a","email":"b","password":"x"}"#).await, "`email` is given twice.");
}

#[tokio::test]
async fn malformed_json_is_refused() {
    assert!(message_for("{\"email\":").await.contains("line 1 column"));
    assert_eq!(message_for(b"\xff".as_slice()).await, "The body is not UTF-8 at byte 0.");
}

#[tokio::test]
async fn what_is_no_object_is_refused() {
    assert_eq!(message_for("[]").await, "The body must be a JSON object.");
}

#[tokio::test]
async fn empty_body_reads_as_an_empty_object_and_needs_no_content_type() {
    let answer = send(Request::post("/object").body(Body::empty()).unwrap()).await;
    assert_eq!((answer.status, answer.text.as_str()), (200, "{}\n"));
}

#[tokio::test]
async fn wrong_content_type_is_415() {
    for content_type in
        ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16"]
    {
        let request =
            Request::post("/object").header("content-type", content_type).body(Body::from("{}")).unwrap();
        send(request).await.assert_error(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    send(Request::post("/object").body(Body::from("{}")).unwrap())
        .await
        .assert_error(415, "UNSUPPORTED_MEDIA_TYPE");
}

fn object_of(bytes: usize) -> String {
    format!(r#"{{"a":"{}"}}"#, "x".repeat(bytes - 8))
}

#[tokio::test]
async fn body_at_the_limit_passes_and_one_byte_more_is_413() {
    assert_eq!(send(post_of("/object", object_of(64 * 1024))).await.status, 200);
    send(post_of("/object", object_of(64 * 1024 + 1))).await.assert_error(413, "PAYLOAD_TOO_LARGE");
}

#[tokio::test]
async fn profile_routes_take_more() {
    assert_eq!(send(post_of("/profile", object_of(256 * 1024))).await.status, 200);
    send(post_of("/profile", object_of(256 * 1024 + 1))).await.assert_error(413, "PAYLOAD_TOO_LARGE");
}

#[tokio::test]
async fn content_length_that_lies_does_not_help() {
    let mut request = post_of("/object", object_of(70_000));
    request.headers_mut().insert("content-length", "2".parse().unwrap());
    send(request).await.assert_error(413, "PAYLOAD_TOO_LARGE");
}

#[tokio::test]
async fn announced_length_over_the_limit_is_413() {
    let mut request = post_of("/object", "{}");
    request.headers_mut().insert("content-length", "70000".parse().unwrap());
    send(request).await.assert_error(413, "PAYLOAD_TOO_LARGE");
}

/// A body that never arrives.
struct Stalled;

impl HttpBody for Stalled {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<Bytes>, Self::Error>>> {
        Poll::Pending
    }
}

#[tokio::test]
async fn body_that_does_not_come_is_408() {
    let answer = send(post_of("/object", Body::new(Stalled.boxed()))).await;
    answer.assert_error(408, "REQUEST_TIMEOUT");
    assert_eq!(answer.header("connection"), "close");
}

#[tokio::test]
async fn parameter_given_twice_is_refused() {
    let answer = send(get_of("/search?q=a&q=b")).await;
    answer.assert_error(400, "VALIDATION_ERROR");
    assert_eq!(answer.json()["message"], "`q` is given twice");
}

#[tokio::test]
async fn bad_encoding_is_refused_and_unknown_parameters_are_ignored() {
    send(get_of("/search?q=%ff")).await.assert_error(400, "VALIDATION_ERROR");
    assert_eq!(send(get_of("/search?x=%ff&q=a+b&x=")).await.text, "a b");
}
