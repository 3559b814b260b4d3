//! Tests of headers and error bodies that every response has, errors of axum included.

use axum::body::Body;
use http::{Method, Request};
use latchkey_http::settings::HttpSettings;

use crate::app::{Answer, REQUEST_ID, get_of, send, send_under, settings};

fn assert_guarded(answer: &Answer) {
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert_eq!(answer.header("referrer-policy"), "no-referrer");
    assert!(answer.header("content-security-policy").starts_with("default-src 'none'; "));
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("strict-transport-security"), "max-age=31536000");
    assert_eq!(answer.header("x-request-id"), REQUEST_ID);
    assert!(!answer.headers.contains_key("server"));
}

#[tokio::test]
async fn every_answer_has_the_security_headers() {
    for path in [
        "/ok",
        "/nowhere",
        "/panic",
        "/fail",
        "/bare",
        "/slow",
        "/page",
        "/search",
        "/client?client_type=a&client_type=b",
    ] {
        assert_guarded(&send(get_of(path)).await);
    }
    assert_guarded(&send(Request::delete("/ok").body(Body::empty()).unwrap()).await);
}

#[tokio::test]
async fn hsts_is_for_https_alone() {
    let http = HttpSettings { public_url: "http://localhost:8700".parse().unwrap(), ..settings() };
    assert!(!send_under(http, get_of("/ok")).await.headers.contains_key("strict-transport-security"));
}

#[tokio::test]
async fn handler_may_set_its_own_caching() {
    assert_eq!(send(get_of("/cached")).await.header("cache-control"), "public, max-age=60");
}

#[tokio::test]
async fn json_says_its_charset() {
    assert_eq!(send(get_of("/ok")).await.header("content-type"), "application/json; charset=utf-8");
}

#[tokio::test]
async fn unknown_route_is_404_in_shape() {
    send(get_of("/nowhere")).await.assert_error(404, "NOT_FOUND");
}

#[tokio::test]
async fn wrong_method_is_405_with_allow() {
    let answer = send(Request::delete("/ok").body(Body::empty()).unwrap()).await;
    answer.assert_error(405, "METHOD_NOT_ALLOWED");
    assert_eq!(answer.header("allow"), "GET,HEAD");
    let invented = Request::builder().method("BREW").uri("/ok").body(Body::empty()).unwrap();
    send(invented).await.assert_error(405, "METHOD_NOT_ALLOWED");
}

#[tokio::test]
async fn options_that_is_no_preflight_goes_to_the_routes() {
    let request =
        Request::options("/ok").header("origin", "https://app.example.org").body(Body::empty()).unwrap();
    send(request).await.assert_error(405, "METHOD_NOT_ALLOWED");
}

#[tokio::test]
async fn panic_is_500_and_shows_nothing() {
    let answer = send(get_of("/panic")).await;
    answer.assert_error(500, "INTERNAL_ERROR");
    assert!(!answer.text.contains("secret words"));
}

#[tokio::test]
async fn internal_error_shows_nothing() {
    let answer = send(get_of("/fail")).await;
    answer.assert_error(500, "INTERNAL_ERROR");
    assert!(!answer.text.contains("users"));
}

#[tokio::test]
async fn error_without_our_shape_gets_it() {
    let answer = send(get_of("/bare")).await;
    answer.assert_error(403, "FORBIDDEN");
    assert!(!answer.text.contains("internal words"));
}

#[tokio::test]
async fn head_has_the_headers_of_get_and_no_body() {
    for path in ["/ok", "/nowhere", "/page", "/bare"] {
        let get = send(get_of(path)).await;
        let head = send(Request::builder().method(Method::HEAD).uri(path).body(Body::empty()).unwrap()).await;
        assert_eq!(head.text, "");
        assert_eq!(head.status, get.status);
        for name in ["content-type", "x-request-id"] {
            assert_eq!(head.header(name), get.header(name), "{path} {name}");
        }
        assert_eq!(head.header("content-length"), get.text.len().to_string());
    }
}

#[tokio::test]
async fn page_keeps_its_html_and_its_own_policy() {
    let answer = send(get_of("/page")).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    assert!(answer.header("content-security-policy").contains("style-src 'sha256-"));
    assert!(!answer.text.contains("<script"));
}
