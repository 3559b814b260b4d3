//! Tests of the limits on size and time of requests.

use axum::body::Body;
use http::Request;

use crate::app::{get_of, send};

#[tokio::test]
async fn uri_at_the_limit_passes_and_one_byte_more_is_414() {
    assert_eq!(send(get_of(&format!("/ok?{}", "x".repeat(8192 - 4)))).await.status, 200);
    send(get_of(&format!("/ok?{}", "x".repeat(8192 - 3)))).await.assert_error(414, "URI_TOO_LONG");
    send(get_of(&format!("/{}", "x".repeat(8192)))).await.assert_error(414, "URI_TOO_LONG");
}

fn with_headers(count: usize, bytes: usize) -> Request<Body> {
    let mut request = Request::get("/ok");
    for _ in 0..count {
        request = request.header("x-a", "v".repeat(bytes));
    }
    request.body(Body::empty()).unwrap()
}

#[tokio::test]
async fn hundred_headers_pass_and_one_more_is_431() {
    assert_eq!(send(with_headers(100, 1)).await.status, 200);
    send(with_headers(101, 1)).await.assert_error(431, "HEADERS_TOO_LARGE");
}

#[tokio::test]
async fn headers_over_32_kib_in_sum_are_431() {
    assert_eq!(send(with_headers(8, 4093)).await.status, 200);
    send(with_headers(8, 4094)).await.assert_error(431, "HEADERS_TOO_LARGE");
}

#[tokio::test]
async fn answer_that_takes_too_long_is_503_with_retry_after() {
    let answer = send(get_of("/slow")).await;
    answer.assert_error(503, "SERVICE_BUSY");
    assert_eq!(answer.header("retry-after"), "5");
}
