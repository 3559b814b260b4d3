//! The guarded client: limits of size, time and format.

use std::time::Duration;

use latchkey_oauth::{OutboundSettings, Provider, ProviderClient, ProviderError, Stage};

use crate::fixtures::{NOW, credentials, development, start};
use crate::sockets::{Bytes, Server, json, response};

/// Fetches a discovery document with this timeout.
async fn ask_for(server: &Server, timeout: Duration) -> ProviderError {
    let client = ProviderClient::new(OutboundSettings { timeout, ..development() }).unwrap();
    let issuer = format!("http://127.0.0.1:{}", server.port);
    let provider = Provider::custom("acme", &issuer, credentials()).unwrap();
    client.authorization_url(&provider, &start(), NOW).await.unwrap_err()
}

async fn ask(bytes: Bytes) -> ProviderError {
    ask_for(&Server::plain(bytes).await, Duration::from_secs(20)).await
}

async fn ask_impatiently(bytes: Bytes) -> ProviderError {
    ask_for(&Server::plain(bytes).await, Duration::from_millis(300)).await
}

fn reason(error: &ProviderError) -> &str {
    match error {
        ProviderError::BadAnswer { stage: Stage::Discovery, reason }
        | ProviderError::Down { stage: Stage::Discovery, reason } => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_body_over_one_mebibyte_is_not_read() {
    let body = format!("{{\"issuer\": \"{}\"}}", "x".repeat(1024 * 1024));
    let refused = ask(Bytes::All(json(&body))).await;
    assert_eq!(reason(&refused), "the body is longer than 1 MiB");
}

#[tokio::test]
async fn a_body_of_one_mebibyte_is_read() {
    let body = format!("{{\"x\": \"{}\"}}", "x".repeat(1024 * 1024 - 9));
    assert_eq!(body.len(), 1024 * 1024);
    let refused = ask(Bytes::All(json(&body))).await;
    assert_eq!(reason(&refused), "a required field is missing or of another type");
}

#[tokio::test]
async fn a_body_without_an_end_is_not_read_for_ever() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunk = format!("1000\r\n{}\r\n", " ".repeat(4096)).into_bytes();
    let refused = ask(Bytes::Endless(head.to_vec(), chunk)).await;
    assert_eq!(reason(&refused), "the body is longer than 1 MiB");
}

#[tokio::test]
async fn headers_without_an_end_are_not_read_for_ever() {
    let refused =
        ask(Bytes::Endless(b"HTTP/1.1 200 OK\r\n".to_vec(), b"X-More: and more\r\n".to_vec())).await;
    assert!(matches!(refused, ProviderError::Down { .. }), "{refused:?}");
}

#[tokio::test]
async fn a_packed_body_is_not_unpacked() {
    let headers = "Content-Type: application/json\r\nContent-Encoding: gzip\r\n";
    let refused = ask(Bytes::All(response("200 OK", headers, &[0x1f, 0x8b, 8, 0]))).await;
    assert_eq!(reason(&refused), "the body is compressed, which was not asked for");
}

#[tokio::test]
async fn a_provider_that_says_nothing_is_down_in_time() {
    for silence in [
        Bytes::Silence(Vec::new()),
        Bytes::Silence(b"HTTP/1.1 200 OK\r\nContent-Type: appl".to_vec()),
        Bytes::Silence(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{".to_vec(),
        ),
    ] {
        assert_eq!(reason(&ask_impatiently(silence).await), "no answer in time");
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let target = Server::plain(Bytes::All(json("{}"))).await;
    for status in
        ["301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Moved"]
    {
        let location =
            format!("Location: http://127.0.0.1:{}/\r\nContent-Type: application/json\r\n", target.port);
        let refused = ask(Bytes::All(response(status, &location, b"{}"))).await;
        assert_eq!(reason(&refused), "it redirects, which is not followed");
    }
    assert_eq!(target.connections(), 0);
}

#[tokio::test]
async fn other_content_types_are_refused() {
    for kind in ["text/html", "text/plain", "application/jsonp", "application/x-www-form-urlencoded", ""] {
        let headers = format!("Content-Type: {kind}\r\n");
        let refused = ask(Bytes::All(response("200 OK", &headers, b"{}"))).await;
        assert_eq!(reason(&refused), "the content type is not JSON", "{kind}");
    }
}

#[tokio::test]
async fn malformed_json_is_a_bad_answer() {
    for body in ["", "{", "<html>", "{} {}", "\u{feff}{}", "nul"] {
        assert_eq!(reason(&ask(Bytes::All(json(body))).await), "the body is not JSON", "{body}");
    }
    let deep = "[".repeat(100_000);
    assert_eq!(reason(&ask(Bytes::All(json(&deep))).await), "the body is not JSON");
}

#[tokio::test]
async fn a_connection_that_breaks_is_a_provider_that_is_down() {
    for bytes in [&b""[..], b"HTTP/1.1", b"rubbish\r\n\r\n"] {
        let refused = ask(Bytes::All(bytes.to_vec())).await;
        assert!(matches!(refused, ProviderError::Down { .. }), "{refused:?}");
    }
    let port = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let provider = Provider::custom("acme", &format!("http://127.0.0.1:{port}"), credentials()).unwrap();
    let client = ProviderClient::new(development()).unwrap();
    let refused = client.authorization_url(&provider, &start(), NOW).await.unwrap_err();
    assert!(reason(&refused).starts_with("no connection"), "{refused:?}");
}

#[tokio::test]
async fn the_whole_conversation_has_one_time_limit() {
    use crate::idp::{DISCOVERY, Idp, TOKEN};
    let mut idp = Idp::start().await;
    let timeout = Duration::from_millis(300);
    idp.client = ProviderClient::new(OutboundSettings { timeout, ..development() }).unwrap();
    let silent = Server::plain(Bytes::Silence(Vec::new())).await;
    let mut document = idp.document();
    document["token_endpoint"] = serde_json::json!(format!("http://127.0.0.1:{}/token", silent.port));
    idp.mock.on(DISCOVERY, document);

    let begun = tokio::time::Instant::now();
    let refused = idp.identify().await.unwrap_err();

    assert!(matches!(refused, ProviderError::Down { stage: Stage::Token, .. }), "{refused:?}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert!(idp.mock.asked(TOKEN).is_empty());
}
