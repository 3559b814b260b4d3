//! Tests of many connections, slow ones, and more than the limits allow.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use crate::binary::{Binary, Running};

const ASK: &[u8] = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

async fn read_all(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await; // a reset is an end, too
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_connections_at_once_are_all_answered() {
    let running = Binary::new().serve().await;
    let mut open = Vec::new();
    for _ in 0..400 {
        open.push(TcpStream::connect(running.address).await.unwrap());
    }

    let mut asking = JoinSet::new();
    for _ in 0..5 {
        for mut stream in std::mem::take(&mut open) {
            asking.spawn(async move {
                stream.write_all(ASK).await.unwrap();
                read_all(&mut stream).await
            });
        }
        for _ in 0..400 {
            open.push(TcpStream::connect(running.address).await.unwrap());
        }
    }

    let answers = asking.join_all().await;
    assert_eq!(answers.len(), 2000);
    assert!(answers.iter().all(|answer| answer.starts_with("HTTP/1.1 200 ")));
}

#[tokio::test]
async fn connections_over_the_limit_wait_for_their_turn() {
    let running = Binary::new().set("server.max_connections=2").serve().await;
    let first = TcpStream::connect(running.address).await.unwrap();
    let second = TcpStream::connect(running.address).await.unwrap();
    let mut third = TcpStream::connect(running.address).await.unwrap();
    third.write_all(ASK).await.unwrap();

    drop((first, second));

    assert!(read_all(&mut third).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn address_beyond_an_eighth_of_the_connections_is_closed_and_others_are_served() {
    let running = Binary::new().set("limits.enabled=true").set("server.max_connections=16").serve().await;
    let held =
        (TcpStream::connect(running.address).await.unwrap(), TcpStream::connect(running.address).await);

    for _ in 0..40 {
        let mut beyond = TcpStream::connect(running.address).await.unwrap();
        assert_eq!(read_all(&mut beyond).await, "");
    }
    let mut other = from_another_address(&running).await;
    other.write_all(ASK).await.unwrap();

    assert!(read_all(&mut other).await.starts_with("HTTP/1.1 200 "));
    drop(held);
}

#[tokio::test]
async fn trusted_proxy_holds_all_connections() {
    let binary = Binary::new().set("limits.enabled=true").set("server.max_connections=16");
    let running = binary.set("server.trusted_proxies=127.0.0.1").serve().await;
    let mut held = Vec::new();
    for _ in 0..16 {
        held.push(TcpStream::connect(running.address).await.unwrap());
    }

    for mut stream in held {
        stream.write_all(ASK).await.unwrap();
        assert!(read_all(&mut stream).await.starts_with("HTTP/1.1 200 "));
    }
}

#[tokio::test]
async fn silent_connection_is_closed_after_the_time_of_the_first_byte() {
    let running = Binary::new().set("server.first_byte_timeout=50ms").serve().await;
    let mut silent = TcpStream::connect(running.address).await.unwrap();

    assert_eq!(read_all(&mut silent).await, "");

    running.anon().get("/health/ready").send().await.expect(200);
}

#[tokio::test]
async fn requests_beyond_the_bound_are_busy_and_the_log_names_the_setting() {
    let running = Binary::new().set("server.max_requests=1").serve().await;
    let mut held = TcpStream::connect(running.address).await.unwrap();
    let request = "POST /api/auth/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n";
    held.write_all(request.as_bytes()).await.unwrap();
    held.read_exact(&mut [0; 25]).await.unwrap(); // 100 Continue

    for _ in 0..5 {
        running.anon().get("/api/auth/public-config").send().await.refused(503, "SERVICE_BUSY");
    }
    running.anon().get("/health/ready").send().await.expect(200);

    held.write_all(b"{}").await.unwrap();
    assert!(read_all(&mut held).await.starts_with("HTTP/1.1 400 "));
    let output = running.stop().await;
    assert_eq!(output.err.matches("server.max_requests").count(), 1, "{}", output.err);
}

#[tokio::test]
async fn connections_that_reset_their_streams_rapidly_are_ended_and_leave_the_log_quiet() {
    let running = Binary::new().serve().await;
    let preface = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &[0, 0, 0, 4, 0, 0, 0, 0, 0]].concat(); // with SETTINGS
    let pair = |stream: u8| {
        let get = [0, 0, 6, 1, 5, 0, 0, 0, stream, 0x82, 0x86, 0x84, 0x41, 1, b'x'];
        [&get[..], &[0, 0, 4, 3, 0, 0, 0, 0, stream, 0, 0, 0, 8]].concat() // RST_STREAM, CANCEL
    };
    let storm = (1..=255).step_by(2).fold(preface, |storm, stream| [storm, pair(stream)].concat());

    for _ in 0..5 {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        let _ = stream.write_all(&storm).await;
        read_all(&mut stream).await; // comes to an end
    }

    let output = running.stop().await;
    assert!(!output.err.contains("h2::"), "{}", output.err);
}

/// Connects from 127.0.0.2, a client address other than that of the tests.
async fn from_another_address(running: &Running) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    socket.connect(running.address).await.unwrap()
}

#[tokio::test]
async fn head_that_does_not_come_to_an_end_is_cut() {
    let running = Binary::new().set("server.header_read_timeout=200ms").serve().await;

    for begin in ["", "GET", "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "] {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        stream.write_all(begin.as_bytes()).await.unwrap();

        let answer = read_all(&mut stream).await;

        assert!(!answer.contains(" 200 "), "{begin:?}: {answer}");
    }
    running.anon().get("/health/ready").send().await.expect(200);
}

#[tokio::test]
async fn body_that_does_not_come_to_an_end_is_refused() {
    let running = Binary::new().set("server.body_timeout=200ms").serve().await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let head = "POST /api/auth/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Content-Length: 100\r\n\r\n{";
    stream.write_all(head.as_bytes()).await.unwrap();

    let answer = read_all(&mut stream).await;

    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("\"REQUEST_TIMEOUT\""), "{answer}");
}

#[tokio::test]
async fn slow_clients_do_not_keep_others_waiting() {
    let running = Binary::new().serve().await;
    let mut slow = Vec::new();
    for _ in 0..300 {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        stream.write_all(b"POST /api/auth/sessions HTTP/1.1\r\nHost: localhost\r\nX-").await.unwrap();
        slow.push(stream);
    }

    let answer = running.anon().sign_up("ada@example.org", latchkey_testkit::PASSWORD).send().await;

    answer.expect(200);
}
