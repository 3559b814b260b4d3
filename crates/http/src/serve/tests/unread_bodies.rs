//! Tests of requests that are answered before their body was read.

use super::*;

const HEAD: &str = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n";

async fn early() -> Running {
    let router = Router::new().route("/", get(|| async { "got" }).post(|| async { "early" }));
    start(router, ServeSettings::default()).await
}

#[tokio::test]
async fn body_that_comes_after_its_head_leaves_the_connection_open() {
    let server = early().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(format!("{HEAD}\r\n").as_bytes()).await.unwrap();
    // The handler needs no body, so it has answered when a request of a second connection is answered.
    assert!(ask(server.address, GET).await.ends_with("got"));

    stream.write_all(b"a=b&c").await.unwrap();
    stream.write_all(GET.as_bytes()).await.unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).await.unwrap();
    assert!(answers.contains("\r\n\r\nearlyHTTP/1.1 200"), "{answers}");
    assert!(answers.ends_with("got"), "{answers}");
}

#[tokio::test]
async fn chunked_body_that_nobody_reads_leaves_the_connection_open() {
    let server = early().await;
    let chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na=b\r\n0\r\n\r\n";
    let answers = ask(server.address, &format!("{chunked}{GET}")).await;
    assert!(answers.contains("early") && answers.ends_with("got"), "{answers}");
}

#[tokio::test]
async fn client_that_sends_a_large_file_before_it_reads_gets_the_response() {
    let server = early().await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let length = 20 * 1024 * 1024;
    let head = format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![b'a'; length]).await.unwrap();
    stream.write_all(GET.as_bytes()).await.unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).await.unwrap();
    assert!(answers.contains("early") && answers.ends_with("got"), "{answers}");
}

#[tokio::test]
async fn response_says_that_the_connection_closes_if_the_client_waits_with_its_body() {
    let server = early().await;
    let answer = ask(server.address, &format!("{HEAD}Expect: 100-continue\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn response_says_that_the_connection_closes_if_the_body_is_endless() {
    let server = early().await;
    let (mut read, mut write) = TcpStream::connect(server.address).await.unwrap().into_split();
    let writing = tokio::spawn(async move {
        let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n";
        write.write_all(head.as_bytes()).await.unwrap();
        while write.write_all(&[b'a'; 0x4000]).await.is_ok() {} // until the server has closed
    });
    let mut answer = [0; 200];
    let length = read.read(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("connection: close"), "{answer}");
    writing.await.unwrap();
}
