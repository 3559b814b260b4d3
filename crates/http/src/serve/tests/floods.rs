//! Tests with silent connections, many connections of one address, many requests at once, and clients that disconnect.

use std::sync::Arc;

use http::StatusCode;
use tokio::net::TcpSocket;

use super::*;
use crate::middleware::Middleware;
use crate::origin::OriginPolicy;
use crate::settings::HttpSettings;

/// A connection from `source`, which is an address of this machine.
async fn connect_from(source: &str, server: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(format!("{source}:0").parse().unwrap()).unwrap();
    socket.connect(server).await.unwrap()
}

async fn ask_on(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer).await; // a reset counts as closed
    answer
}

/// Waits until the server closes the connection; true if it sent nothing before.
async fn ends_unanswered(stream: &mut TcpStream) -> bool {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await; // a reset counts as closed
    answer.is_empty()
}

fn ok() -> Router {
    Router::new().route("/", get(|| async { "ok" }))
}

fn shares(most: usize, max_connections: usize) -> ServeSettings {
    ServeSettings {
        max_connections,
        max_connections_per_address: Some(most),
        header_read_timeout: Duration::from_mins(10),
        first_byte_timeout: Duration::from_mins(10),
        ..ServeSettings::default()
    }
}

#[tokio::test]
async fn connection_without_a_first_byte_is_closed_long_before_the_header_time() {
    let settings = ServeSettings {
        first_byte_timeout: Duration::from_millis(20),
        header_read_timeout: Duration::from_mins(10),
        ..ServeSettings::default()
    };
    let server = start(ok(), settings).await;
    let mut kept = TcpStream::connect(server.address).await.unwrap();
    kept.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut first = [0; 12];
    kept.read_exact(&mut first).await.unwrap();

    let mut silent = TcpStream::connect(server.address).await.unwrap();
    assert!(ends_unanswered(&mut silent).await);

    // The first-byte timeout does not apply between requests.
    assert!(ask_on(&mut kept, GET).await.ends_with("ok"));
}

#[tokio::test]
async fn stop_closes_silent_connections_at_once() {
    let server = start(ok(), shares(10, 10)).await;
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    assert!(ask(server.address, GET).await.ends_with("ok")); // accepted after the silent one

    server.stop.send(()).unwrap();

    assert!(ends_unanswered(&mut silent).await);
    assert_eq!(server.task.await.unwrap(), 0);
}

#[tokio::test]
async fn address_beyond_its_share_is_closed_at_once_and_others_are_served() {
    let server = start(ok(), shares(2, 16)).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        held.push(connect_from("127.0.0.1", server.address).await);
    }

    for _ in 0..30 {
        let mut beyond = connect_from("127.0.0.1", server.address).await;
        assert!(ends_unanswered(&mut beyond).await);
    }
    let mut other = connect_from("127.0.0.2", server.address).await;

    assert!(ask_on(&mut other, GET).await.ends_with("ok"));
    assert!(ask_on(&mut held[0], GET).await.ends_with("ok"));
}

#[tokio::test]
async fn share_is_given_back_when_a_connection_ends() {
    let server = start(ok(), shares(1, 8)).await;

    for _ in 0..5 {
        // The server has released a connection before its client reads the end of the stream.
        assert!(ask(server.address, GET).await.ends_with("ok"));
    }
}

#[tokio::test]
async fn trusted_proxy_holds_more_than_the_share() {
    let trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
    let server = start(ok(), ServeSettings { trusted_proxies, ..shares(1, 16) }).await;
    let mut held = Vec::new();
    for _ in 0..8 {
        held.push(connect_from("127.0.0.1", server.address).await);
    }

    for mut stream in held {
        assert!(ask_on(&mut stream, GET).await.ends_with("ok"));
    }
}

/// Routes inside the middleware: one that responds, one that waits for `go_on`, one that never ends, one that panics.
fn edged(entered: &Arc<Notify>, go_on: &Arc<Notify>) -> Router {
    let (inside, gate) = (Arc::clone(entered), Arc::clone(go_on));
    let handler = move || async move {
        inside.notify_one();
        gate.notified().await;
        "finished"
    };
    let (stuck, health) = (Arc::clone(entered), || async { "well" });
    let never = move || async move {
        stuck.notify_one();
        std::future::pending::<&str>().await
    };
    let routes = Router::new()
        .route("/", get(|| async { "ok" }))
        .route("/gate", get(handler))
        .route("/never", get(never))
        .route("/panic", get(panics))
        .route("/health/live", get(health))
        .route("/health/ready", get(health));
    let settings = HttpSettings {
        request_timeout: Duration::from_millis(50),
        ..HttpSettings::new("http://localhost".parse().unwrap(), true)
    };
    let settings = Arc::new(settings);
    let origins = OriginPolicy::new(&settings, Arc::new(|_: &str| false));
    Middleware::new(settings, origins, Arc::new(uuid::Uuid::nil)).wrap(routes)
}

async fn panics() -> &'static str {
    panic!("a handler")
}

fn one_request() -> ServeSettings {
    ServeSettings { max_requests: 1, ..ServeSettings::default() }
}

fn get_of(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
}

#[tokio::test]
async fn request_beyond_the_bound_is_503_at_once_and_health_is_not() {
    let (entered, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let server = start(edged(&entered, &go_on), one_request()).await;
    let address = server.address;
    let held = tokio::spawn(async move { ask(address, &get_of("/gate")).await });
    entered.notified().await;

    for path in ["/", "/gate", "/health/live/", "/nothing"] {
        let answer = ask(address, &get_of(path)).await;
        assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("retry-after: 1\r\n"), "{answer}");
        assert_eq!(body_of(&answer)["error"], "SERVICE_BUSY");
    }
    for path in ["/health/live", "/health/ready?x=1"] {
        assert!(ask(address, &get_of(path)).await.ends_with("well"));
    }

    go_on.notify_one();
    assert!(held.await.unwrap().ends_with("finished"));
    assert!(ask(address, GET).await.ends_with("ok"));
}

#[tokio::test]
async fn slot_comes_back_from_every_end_of_a_request() {
    let (entered, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let server = start(edged(&entered, &go_on), one_request()).await;
    for (path, status) in [("/", 200), ("/panic", 500), ("/never", 503), ("/nothing", 404), ("/", 200)] {
        let answer = ask(server.address, &get_of(path)).await;

        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answer}");
        assert!(!answer.contains("more requests in flight"), "{path}: {answer}");
    }
}

#[tokio::test]
async fn client_that_is_gone_frees_its_connection_when_the_request_time_is_over() {
    let (entered, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let settings = ServeSettings { max_connections: 1, ..one_request() };
    let server = start(edged(&entered, &go_on), settings).await;
    let mut gone = TcpStream::connect(server.address).await.unwrap();
    gone.write_all(get_of("/never").as_bytes()).await.unwrap();
    entered.notified().await;

    drop(gone);

    assert!(ask(server.address, GET).await.ends_with("ok"));
}

/// Sends `request` and closes the sending side. The server sees this before it makes the response.
async fn ask_half_closed(server: &Running, entered: &Notify, go_on: &Notify, request: &str) -> String {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    entered.notified().await;
    stream.shutdown().await.unwrap();
    assert!(ask(server.address, GET).await.ends_with("ok"));
    go_on.notify_one();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn half_closed_connection_is_answered_and_then_closed() {
    let (entered, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let settings = ServeSettings { header_read_timeout: Duration::from_mins(10), ..ServeSettings::default() };
    let server = start(edged(&entered, &go_on), settings).await;
    let request = "GET /gate HTTP/1.1\r\nHost: x\r\n\r\n";

    let answer = ask_half_closed(&server, &entered, &go_on, request).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("finished"), "{answer}");

    let pipelined =
        format!("{request}GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /nothing HTTP/1.1\r\nHost: x\r\n\r\n");
    let answers = ask_half_closed(&server, &entered, &go_on, &pipelined).await;
    let statuses: Vec<_> =
        answers.match_indices("HTTP/1.1 ").map(|(at, _)| &answers[at + 9..at + 12]).collect();
    assert_eq!(statuses, [StatusCode::OK.as_str(), "200", "404"], "{answers}");
}
