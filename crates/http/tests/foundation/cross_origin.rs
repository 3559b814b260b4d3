//! Tests of CORS and of the client's address.

use axum::body::Body;
use http::Request;
use latchkey_http::client::PeerAddr;
use latchkey_http::settings::HttpSettings;

use crate::app::{Answer, get_of, send, send_under, settings};

async fn from_origin(origin: &str) -> Answer {
    send(Request::get("/ok").header("origin", origin).body(Body::empty()).unwrap()).await
}

fn preflight(origin: &str) -> Request<Body> {
    let request =
        Request::options("/ok").header("origin", origin).header("access-control-request-method", "PATCH");
    request.body(Body::empty()).unwrap()
}

#[tokio::test]
async fn known_origin_is_echoed_with_credentials() {
    for origin in ["https://app.example.org", "https://id.example.org"] {
        let answer = from_origin(origin).await;
        assert_eq!(answer.header("access-control-allow-origin"), origin);
        assert_eq!(answer.header("access-control-allow-credentials"), "true");
        let exposed = "X-Total-Count, X-Page, X-Page-Size, ETag, Retry-After, X-Request-Id";
        assert_eq!(answer.header("access-control-expose-headers"), exposed);
    }
}

#[tokio::test]
async fn unknown_origin_gets_the_answer_without_permission() {
    for origin in ["https://evil.example", "null", "http://localhost:3000"] {
        let answer = from_origin(origin).await;
        assert_eq!(answer.status, 200);
        assert!(!answer.headers.contains_key("access-control-allow-origin"), "{origin}");
        assert!(!answer.headers.contains_key("access-control-allow-credentials"), "{origin}");
    }
}

#[tokio::test]
async fn every_answer_varies_by_origin() {
    for answer in [send(get_of("/ok")).await, from_origin("null").await, send(get_of("/nowhere")).await] {
        assert_eq!(answer.header("vary"), "Origin");
    }
    assert_eq!(send(preflight("https://evil.example")).await.header("vary"), "Origin");
}

#[tokio::test]
async fn local_origins_are_known_in_development() {
    let development = HttpSettings { development: true, ..settings() };
    let request = Request::get("/ok").header("origin", "http://localhost:3000").body(Body::empty()).unwrap();
    let answer = send_under(development, request).await;
    assert_eq!(answer.header("access-control-allow-origin"), "http://localhost:3000");
}

#[tokio::test]
async fn preflight_of_a_known_origin_lists_methods_and_headers() {
    let answer = send(preflight("https://app.example.org")).await;
    assert_eq!((answer.status, answer.text.as_str()), (204, ""));
    assert_eq!(answer.header("access-control-allow-origin"), "https://app.example.org");
    assert_eq!(answer.header("access-control-allow-methods"), "GET, POST, PATCH, PUT, DELETE");
    let headers = "authorization, content-type, x-csrf-token, if-match, x-api-key, traceparent, tracestate, baggage, \
                   sentry-trace";
    assert_eq!(answer.header("access-control-allow-headers"), headers);
    assert_eq!(answer.header("access-control-max-age"), "7200");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
}

#[tokio::test]
async fn preflight_of_an_unknown_origin_is_refused() {
    for origin in ["https://evil.example", "null"] {
        let answer = send(preflight(origin)).await;
        answer.assert_error(403, "FORBIDDEN");
        assert!(!answer.headers.contains_key("access-control-allow-origin"));
        assert!(!answer.headers.contains_key("access-control-allow-methods"));
    }
}

#[tokio::test]
async fn errors_can_be_read_by_known_origins() {
    let uri = format!("/ok?{}", "x".repeat(9000));
    let request = Request::get(uri).header("origin", "https://app.example.org").body(Body::empty()).unwrap();
    let answer = send(request).await;
    answer.assert_error(414, "URI_TOO_LONG");
    assert_eq!(answer.header("access-control-allow-origin"), "https://app.example.org");
}

async fn address(peer: &str) -> String {
    let mut request =
        Request::get("/client").header("x-forwarded-for", "203.0.113.9").body(Body::empty()).unwrap();
    request.extensions_mut().insert(PeerAddr(peer.parse().unwrap()));
    send(request).await.json()["address"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn forwarded_address_counts_behind_a_trusted_proxy_alone() {
    assert_eq!(address("10.1.2.3:1").await, "203.0.113.9");
    assert_eq!(address("192.0.2.7:1").await, "192.0.2.7");
}

#[tokio::test]
async fn client_type_given_twice_is_refused() {
    send(get_of("/client?client_type=web&client_type=mobile")).await.assert_error(400, "VALIDATION_ERROR");
    assert_eq!(send(get_of("/client?client_type=mobile")).await.json()["isWeb"], false);
    assert_eq!(send(get_of("/client?client_type=fridge")).await.json()["isWeb"], true);
}
