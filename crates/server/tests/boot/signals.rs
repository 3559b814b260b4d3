//! Tests of the shutdown. Requests in flight finish, no new ones start, and the exit code is 0.

use std::process::Stdio;
use std::time::Duration;

use latchkey_testkit::PASSWORD;
use rustix::process::Signal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::binary::{Binary, Running, eventually, terminate};

/// Sends the head and half of the body of a sign-up. Returns the connection and the rest of the body.
async fn half_a_sign_up(running: &Running) -> (TcpStream, String) {
    let body = format!(r#"{{"email": "ada@example.org", "password": "{PASSWORD}"}}"#);
    let (begin, rest) = body.split_at(10);
    let length = body.len();
    let head = format!(
        "POST /api/auth/users HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{begin}"
    );
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    // The server has read the earlier head by the time it responds to this later request.
    running.anon().get("/health/live").send().await.expect(200);
    (stream, rest.to_owned())
}

async fn read_all(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

async fn finishes_what_is_in_flight(signal: Signal, name: &str) {
    let binary = Binary::new().set("server.public_url=http://localhost:8700");
    let running = binary.serve().await;
    let (mut stream, rest) = half_a_sign_up(&running).await;

    running.signal(signal);
    running.closed().await;
    stream.write_all(rest.as_bytes()).await.unwrap();

    let answer = read_all(stream).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let output = running.ended().await;
    assert_eq!(output.code, Some(0), "{output:#?}");
    assert!(output.err.contains("stopping") && output.err.contains("stopped"), "{output:#?}");
    assert!(output.err.contains(&format!("signal={name}")), "{output:#?}");
    let again = binary.serve().await;
    again.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);
}

#[tokio::test]
async fn sigterm_finishes_what_is_in_flight() {
    finishes_what_is_in_flight(Signal::TERM, "SIGTERM").await;
}

#[tokio::test]
async fn ctrl_c_finishes_what_is_in_flight() {
    finishes_what_is_in_flight(Signal::INT, "SIGINT").await;
}

#[tokio::test]
async fn sighup_finishes_what_is_in_flight() {
    finishes_what_is_in_flight(Signal::HUP, "SIGHUP").await;
}

/// Returns the number of running instances that the database knows.
fn instances_of(binary: &Binary) -> i64 {
    let file = rusqlite::Connection::open(binary.path("latchkey-data/latchkey.db")).unwrap();
    file.query_row("SELECT count(*) FROM instances", [], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn instance_that_stops_leaves_the_list_of_instances() {
    let binary = Binary::new();
    let running = binary.serve().await;
    eventually("the instance is in the list", async || (instances_of(&binary) == 1).then_some(())).await;

    running.stop().await;

    assert_eq!(instances_of(&binary), 0);
}

#[tokio::test]
async fn service_that_was_started_to_ignore_sighup_ignores_it() {
    let binary = Binary::new().under(&["/bin/sh", "-c", "trap '' HUP; exec \"$@\"", "sh"]);
    let running = binary.serve().await;

    running.signal(Signal::HUP);
    running.anon().get("/health/ready").send().await.expect(200);

    let output = running.stop().await;
    assert!(output.err.contains("signal=SIGTERM") && !output.err.contains("SIGHUP"), "{output:#?}");
}

#[tokio::test]
async fn command_that_waits_for_its_input_is_ended_by_a_signal() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let binary = Binary::new();
        let mut child =
            binary.command(&["user", "create", "ada@example.org"]).stdin(Stdio::piped()).spawn().unwrap();
        eventually("the database is made", async || {
            binary.path("latchkey-data/latchkey.db").exists().then_some(())
        })
        .await;

        terminate(&child, signal);

        let ended = timeout(Duration::from_mins(1), child.wait()).await.unwrap().unwrap();
        assert_eq!(ended.code(), Some(code), "{signal:?}");
    }
}

#[tokio::test]
async fn request_beyond_the_drain_timeout_is_cut() {
    let running = Binary::new().set("server.drain_timeout=100ms").serve().await;
    let (stream, _) = half_a_sign_up(&running).await;

    let output = running.stop().await;

    assert_eq!(output.code, Some(0), "{output:#?}");
    assert!(output.err.contains("connections cut"), "{output:#?}");
    drop(stream);
}

#[tokio::test]
async fn service_is_not_ready_and_serves_until_the_delay_is_over() {
    let running = Binary::new().set("server.stop_delay=1h").serve().await;
    running.anon().get("/health/ready").send().await.expect(200);

    running.signal(Signal::TERM);

    let unready =
        async || Some(running.anon().get("/health/ready").send().await).filter(|now| now.status != 200);
    eventually("it is not ready", unready).await.refused(503, "SERVICE_BUSY");
    running.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
    let output = running.stop().await; // a second signal
    assert_eq!(output.code, Some(0), "{output:#?}");
    assert!(output.err.contains("not ready any more") && output.err.contains("stopped"), "{output:#?}");
}

#[tokio::test]
async fn idle_connections_do_not_delay_the_stop() {
    let running = Binary::new().set("server.drain_timeout=1h").serve().await;
    let mut idle = TcpStream::connect(running.address).await.unwrap();
    idle.write_all(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut begin = [0; 12];
    idle.read_exact(&mut begin).await.unwrap();

    let output = running.stop().await;

    assert_eq!(output.code, Some(0), "{output:#?}");
}
