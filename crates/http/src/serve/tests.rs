//! Tests of connections over real sockets.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use super::*;

mod floods;
mod http2;
mod unread_bodies;

struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<usize>,
}

async fn start(router: Router, settings: ServeSettings) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let shutdown = async { stopped.await.unwrap_or_default() };
    let task = tokio::spawn(serve(vec![listener], router, settings, shutdown));
    Running { address, stop, task }
}

async fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer).await;
    answer
}

const GET: &str = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

#[tokio::test]
async fn request_carries_its_peer() {
    let router = Router::new().route("/", get(|peer: PeerAddr| async move { peer.0.ip().to_string() }));
    let server = start(router, ServeSettings::default()).await;
    assert!(ask(server.address, GET).await.ends_with("127.0.0.1"));
}

#[tokio::test]
async fn stop_finishes_what_is_in_flight_and_refuses_new_connections() {
    let (entered, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (inside, gate) = (Arc::clone(&entered), Arc::clone(&go_on));
    let handler = move || async move {
        inside.notify_one();
        gate.notified().await;
        "finished"
    };
    let server = start(Router::new().route("/", get(handler)), ServeSettings::default()).await;
    let request = tokio::spawn(ask(server.address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    entered.notified().await;

    server.stop.send(()).unwrap();
    while TcpStream::connect(server.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    go_on.notify_one();

    assert!(request.await.unwrap().ends_with("finished"));
    assert_eq!(server.task.await.unwrap(), 0);
}

#[tokio::test]
async fn stop_closes_idle_connections_at_once() {
    let server = start(Router::new().route("/", get(|| async { "ok" })), ServeSettings::default()).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();

    server.stop.send(()).unwrap();
    assert_eq!(server.task.await.unwrap(), 0);
}

#[tokio::test]
async fn request_that_outlasts_the_drain_time_is_cut() {
    let entered = Arc::new(Notify::new());
    let inside = Arc::clone(&entered);
    let handler = move || async move {
        inside.notify_one();
        std::future::pending::<&str>().await
    };
    let settings = ServeSettings { drain_timeout: Duration::from_millis(20), ..ServeSettings::default() };
    let server = start(Router::new().route("/", get(handler)), settings).await;
    let request = tokio::spawn(ask(server.address, GET));
    entered.notified().await;

    server.stop.send(()).unwrap();
    assert_eq!(server.task.await.unwrap(), 1);
    assert_eq!(request.await.unwrap(), "");
}

#[tokio::test]
async fn client_that_says_nothing_is_closed_after_the_header_time() {
    let settings =
        ServeSettings { header_read_timeout: Duration::from_millis(20), ..ServeSettings::default() };
    let server = start(Router::new(), settings).await;
    for start in ["", "P", "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "] {
        assert!(!ask(server.address, start).await.contains(" 200 "), "{start:?}");
    }
}

#[tokio::test]
async fn connection_over_the_cap_waits_for_a_slot() {
    let settings = ServeSettings { max_connections: 1, ..ServeSettings::default() };
    let server = start(Router::new().route("/", get(|| async { "ok" })), settings).await;
    let mut first = TcpStream::connect(server.address).await.unwrap();
    first.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut answered = [0; 12];
    first.read_exact(&mut answered).await.unwrap();

    let second = tokio::spawn(ask(server.address, GET));
    tokio::task::yield_now().await;
    assert!(!second.is_finished());
    drop(first);
    assert!(second.await.unwrap().ends_with("ok"));
}

#[tokio::test]
async fn more_than_a_hundred_headers_reach_the_router() {
    let server = start(Router::new().route("/", get(|| async { "ok" })), ServeSettings::default()).await;
    let headers = "X-Many: 1\r\n".repeat(120);
    let answer =
        ask(server.address, &format!("GET / HTTP/1.1\r\nHost: x\r\n{headers}Connection: close\r\n\r\n"))
            .await;
    assert!(answer.ends_with("ok"));
}

fn body_of(answer: &str) -> serde_json::Value {
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[tokio::test]
async fn request_that_is_no_http_gets_a_bare_status_and_the_connection_ends() {
    let server = start(Router::new(), ServeSettings::default()).await;
    let headers = "X-Many: 1\r\n".repeat(2000);
    for (request, status) in [
        ("\u{1}\u{2}\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.1\r\nBad Name: x\r\n\r\n".to_owned(), 400),
        (format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(70_000)), 414),
        (format!("GET / HTTP/1.1\r\n{headers}\r\n"), 431),
    ] {
        let answer = ask(server.address, &request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert!(answer.contains("content-length: 0") && answer.ends_with("\r\n\r\n"), "{answer}");
    }
}
