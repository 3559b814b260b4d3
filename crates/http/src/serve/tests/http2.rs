//! Tests of HTTP/2 (RFC 9113) with single frames that no client library would send.

use std::sync::Arc;

use futures_util::FutureExt;

use super::*;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const REFUSED_STREAM: u8 = 7;
const CANCEL: u8 = 8;
const ENHANCE_YOUR_CALM: u8 = 11;
/// `GET http://x/` in HPACK: three entries of the static table and one literal.
const GET_ROOT: &[u8] = &[0x82, 0x86, 0x84, 0x41, 1, b'x'];

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

fn get_root(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_STREAM | END_HEADERS, stream, GET_ROOT)
}

struct Frame {
    kind: u8,
    stream: u32,
    payload: Vec<u8>,
}

struct Http2(TcpStream);

impl Http2 {
    async fn connect(address: SocketAddr, settings: &[u8]) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, settings)].concat()).await.unwrap();
        Self(stream)
    }

    /// Sends bytes. An error is ignored, because the server may have closed the connection.
    async fn send(&mut self, bytes: &[u8]) {
        let _ = self.0.write_all(bytes).await;
    }

    /// The next frame of this kind; `None` if the connection ends before.
    async fn next(&mut self, kind: u8) -> Option<Frame> {
        loop {
            let mut head = [0; 9];
            self.0.read_exact(&mut head).await.ok()?;
            let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
            let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
            let mut payload = vec![0; usize::try_from(length).unwrap()];
            self.0.read_exact(&mut payload).await.ok()?;
            if head[3] == kind {
                return Some(Frame { kind, stream, payload });
            }
        }
    }

    /// The error code with which the server ends the connection.
    async fn end(&mut self) -> u8 {
        let frame = self.next(GO_AWAY).await.expect("a GOAWAY");
        assert_eq!(frame.kind, GO_AWAY);
        frame.payload[7]
    }
}

fn gated(entered: &Arc<Notify>, go_on: &Arc<Notify>) -> Router {
    let (inside, gate) = (Arc::clone(entered), Arc::clone(go_on));
    let handler = move |request: http::Request<axum::body::Body>| async move {
        if request.extensions().get::<Overloaded>().is_some() {
            return "busy";
        }
        inside.notify_one();
        gate.notified().await;
        "finished"
    };
    Router::new().route("/", get(handler))
}

async fn start_gated(settings: ServeSettings) -> (Running, Arc<Notify>, Arc<Notify>) {
    let (entered, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    (start(gated(&entered, &go_on), settings).await, entered, go_on)
}

#[tokio::test]
async fn seventeenth_stream_of_a_connection_is_refused() {
    let (server, ..) = start_gated(ServeSettings::default()).await;
    let mut client = Http2::connect(server.address, &[]).await;

    let streams: Vec<u8> = (0..17).flat_map(|at| get_root(2 * at + 1)).collect();
    client.send(&streams).await;

    let refused = client.next(RST_STREAM).await.unwrap();
    assert_eq!((refused.stream, refused.payload[3]), (33, REFUSED_STREAM));
}

#[tokio::test]
async fn streams_and_http1_requests_have_one_bound() {
    let (server, entered, go_on) =
        start_gated(ServeSettings { max_requests: 1, ..ServeSettings::default() }).await;
    let mut client = Http2::connect(server.address, &[]).await;
    client.send(&get_root(1)).await;
    entered.notified().await;

    assert!(ask(server.address, GET).await.ends_with("busy"));

    go_on.notify_one();
    assert_eq!(client.next(HEADERS).await.unwrap().stream, 1);
    go_on.notify_one(); // for the next
    assert!(ask(server.address, GET).await.ends_with("finished"));
}

#[tokio::test]
async fn stream_that_its_client_resets_gives_its_slot_back() {
    let (server, entered, go_on) =
        start_gated(ServeSettings { max_requests: 1, ..ServeSettings::default() }).await;
    let mut client = Http2::connect(server.address, &[]).await;
    client.send(&get_root(1)).await;
    entered.notified().await;

    let reset = frame(RST_STREAM, 0, 1, &[0, 0, 0, CANCEL]);
    client.send(&[reset, frame(PING, 0, 0, b"12345678")].concat()).await;
    client.next(PING).await.unwrap();

    go_on.notify_one(); // for the next
    assert!(ask(server.address, GET).await.ends_with("finished"));
}

#[tokio::test]
async fn stream_whose_answer_is_never_read_ends_in_bounded_time() {
    let settings = ServeSettings {
        max_requests: 1,
        request_timeout: Duration::from_millis(20),
        header_read_timeout: Duration::from_mins(10),
        ..ServeSettings::default()
    };
    let (server, _, go_on) = start_gated(settings).await;
    let no_window = [0, 4, 0, 0, 0, 0]; // SETTINGS_INITIAL_WINDOW_SIZE = 0
    let mut client = Http2::connect(server.address, &no_window).await;
    go_on.notify_one();
    client.send(&get_root(1)).await;

    let reset = client.next(RST_STREAM).await.unwrap();

    assert_eq!((reset.stream, reset.payload[3]), (1, CANCEL));
    go_on.notify_one();
    assert!(ask(server.address, GET).await.ends_with("finished"));
}

#[tokio::test]
async fn rapid_reset_ends_the_connection() {
    let (server, ..) = start_gated(ServeSettings::default()).await;
    let mut client = Http2::connect(server.address, &[]).await;

    let storm = (0..2000)
        .flat_map(|at| [get_root(2 * at + 1), frame(RST_STREAM, 0, 2 * at + 1, &[0, 0, 0, CANCEL])].concat());
    client.send(&storm.collect::<Vec<_>>()).await;

    assert_eq!(client.end().await, ENHANCE_YOUR_CALM);
}

#[tokio::test]
async fn head_of_endless_continuations_ends_the_connection() {
    let (server, ..) = start_gated(ServeSettings::default()).await;
    let mut client = Http2::connect(server.address, &[]).await;

    client.send(&frame(HEADERS, END_STREAM, 1, GET_ROOT)).await;
    let literal = [&[0_u8, 1, b'a', 100][..], &[b'v'; 100]].concat();
    for _ in 0..100 {
        client.send(&frame(CONTINUATION, 0, 1, &literal)).await;
    }

    assert_eq!(client.end().await, ENHANCE_YOUR_CALM);
}

/// A request head with a field of 4,000 bytes in the dynamic table, and one byte for each repetition of the field.
fn bomb(repetitions: usize) -> Vec<u8> {
    let entry = [&[0x40, 1, b'a', 0x7f, 0xa1, 0x1e][..], &[b'v'; 4000]].concat();
    let block = [GET_ROOT, &entry, &vec![0xbe; repetitions]].concat();
    frame(HEADERS, END_STREAM | END_HEADERS, 1, &block)
}

#[tokio::test]
async fn head_that_unpacks_to_more_than_the_list_limit_never_reaches_the_router() {
    let (server, entered, _) = start_gated(ServeSettings::default()).await;

    let mut client = Http2::connect(server.address, &[]).await;
    client.send(&bomb(20)).await;
    let refusal = client.next(HEADERS).await.unwrap();
    assert!(refusal.payload.windows(3).any(|status| status == [0x69, 0x90, 0xff]), "{:x?}", refusal.payload); // 431, Huffman

    let mut client = Http2::connect(server.address, &[]).await;
    client.send(&bomb(10_000)).await;
    assert_eq!(client.end().await, ENHANCE_YOUR_CALM);

    assert!(entered.notified().now_or_never().is_none());
}

#[tokio::test]
async fn preface_that_does_not_come_to_an_end_is_cut() {
    let settings =
        ServeSettings { header_read_timeout: Duration::from_millis(20), ..ServeSettings::default() };
    let server = start(Router::new(), settings).await;
    let whole = [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat();
    for begin in [&PREFACE[..1], &PREFACE[..23], PREFACE, &whole] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(begin).await.unwrap();

        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await; // comes to an end
        assert!(!answer.starts_with(b"HTTP/1.1 200"));
    }
}
