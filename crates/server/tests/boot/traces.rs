//! Tests of traces, with a collector that keeps what it is sent.

use std::fs::Permissions;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use latchkey_testkit::{PASSWORD, Session, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::binary::{Binary, eventually};
use crate::preflight::assert_refused;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: [u8; 8] = [0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31];

/// Head and body of a request.
type Taken = (String, Vec<u8>);

/// A collector: the requests that it got, head and body.
#[derive(Clone)]
struct Collector {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Taken>>>,
}

impl Collector {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let collector = Self { address: listener.local_addr().unwrap(), requests: Arc::default() };
        let accepting = collector.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(accepting.clone().take(stream));
            }
        });
        collector
    }

    async fn take(self, mut stream: TcpStream) {
        let mut bytes = Vec::new();
        loop {
            let end = bytes.windows(4).position(|part| part == b"\r\n\r\n");
            if let Some(end) = end {
                let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
                let length =
                    head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).expect("a length");
                if bytes.len() == end + 4 + length.parse::<usize>().unwrap() {
                    self.requests.lock().unwrap().push((head, bytes.split_off(end + 4)));
                    break;
                }
            }
            if stream.read_buf(&mut bytes).await.unwrap() == 0 {
                return;
            }
        }
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    }

    fn spans(&self) -> Vec<Span> {
        let requests = self.requests.lock().unwrap();
        requests.iter().flat_map(|(_, body)| spans(body)).collect()
    }

    /// Waits for a span with this name and attribute.
    async fn span(&self, name: &str, attribute: (&str, &str)) -> Span {
        eventually("the span arrives", async || {
            self.spans().into_iter().find(|span| span.name == name && span.has(attribute))
        })
        .await
    }
}

#[derive(Debug, Clone, Default)]
struct Span {
    trace: Vec<u8>,
    id: Vec<u8>,
    parent: Vec<u8>,
    name: String,
    attributes: Vec<(String, String)>,
    is_error: bool,
    nanoseconds: u64,
}

impl Span {
    fn has(&self, (name, value): (&str, &str)) -> bool {
        self.attributes.iter().any(|(known, is)| known == name && is == value)
    }
}

/// A field of a protobuf message: its number, and its bytes or its number.
enum Field<'a> {
    Bytes(&'a [u8]),
    Number(u64),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            return number;
        }
    }
}

fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => {
                let (number, rest) = bytes.split_at(8);
                bytes = rest;
                Field::Number(u64::from_le_bytes(number.try_into().unwrap()))
            }
            2 => {
                let length = usize::try_from(varint(&mut bytes)).unwrap();
                let (part, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(part)
            }
            other => panic!("wire type {other}"),
        };
        fields.push((key >> 3, field));
    }
    fields
}

/// Messages in this field.
fn messages(bytes: &[u8], number: u64) -> Vec<&[u8]> {
    let of = fields(bytes).into_iter().filter(|(known, _)| *known == number);
    of.filter_map(|(_, field)| match field {
        Field::Bytes(bytes) => Some(bytes),
        Field::Number(_) => None,
    })
    .collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn spans(request: &[u8]) -> Vec<Span> {
    let scopes = messages(request, 1).into_iter().flat_map(|resource| messages(resource, 2));
    scopes.flat_map(|scope| messages(scope, 2)).map(span).collect()
}

fn span(bytes: &[u8]) -> Span {
    let mut span = Span::default();
    let mut times = [0, 0];
    for (number, field) in fields(bytes) {
        match (number, field) {
            (1, Field::Bytes(id)) => span.trace = id.to_vec(),
            (2, Field::Bytes(id)) => span.id = id.to_vec(),
            (4, Field::Bytes(id)) => span.parent = id.to_vec(),
            (5, Field::Bytes(name)) => span.name = text(name),
            (7, Field::Number(time)) => times[0] = time,
            (8, Field::Number(time)) => times[1] = time,
            (9, Field::Bytes(pair)) => {
                let value = fields(messages(pair, 2)[0]).pop().map(|(_, value)| match value {
                    Field::Bytes(bytes) => text(bytes),
                    Field::Number(number) => number.to_string(),
                });
                span.attributes.push((text(messages(pair, 1)[0]), value.unwrap()));
            }
            (15, Field::Bytes(_)) => span.is_error = true,
            _ => {}
        }
    }
    span.nanoseconds = times[1].checked_sub(times[0]).expect("an end after the start");
    span
}

fn traced(collector: &Collector) -> Binary {
    Binary::new().set(&format!("traces.endpoint=http://{}", collector.address)).set("log.format=json")
}

#[tokio::test]
async fn request_is_a_trace_with_its_operations_and_its_hash() {
    let collector = Collector::start().await;
    let running = traced(&collector).set("traces.sample=1").serve().await;

    running.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);

    let request = collector.span("request", ("http.route", "/api/auth/users")).await;
    assert!(
        request.has(("http.request.method", "POST")) && request.has(("http.response.status_code", "200"))
    );
    assert!(request.parent.is_empty() && !request.is_error && request.nanoseconds > 0, "{request:?}");
    assert_eq!((request.trace.len(), request.id.len()), (16, 8));
    let spans = collector.spans();
    let within: Vec<_> = spans.iter().filter(|span| span.trace == request.trace).collect();
    for (name, attribute) in [
        ("store", Some(("latchkey.operation", "begin_sign_up"))),
        ("store", Some(("latchkey.operation", "create_account_and_enter"))),
        ("hash wait", None),
        ("hash work", None),
    ] {
        let found = within.iter().find(|span| span.name == name && attribute.is_none_or(|one| span.has(one)));
        let found = found.unwrap_or_else(|| panic!("no {name} {attribute:?} in {within:#?}"));
        assert!(found.parent == request.id && found.nanoseconds <= request.nanoseconds, "{found:?}");
    }
    let output = running.stop().await;
    let id = hex::encode(&request.trace);
    let lines: Vec<Value> = output.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(
        lines.iter().any(|line| line["message"] == "answered" && line["trace_id"] == id.as_str()),
        "{lines:#?}"
    );
    let (head, _) = collector.requests.lock().unwrap()[0].clone();
    assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("\r\nContent-Type: application/x-protobuf"), "{head}");
}

#[tokio::test]
async fn spans_contain_nothing_about_a_person_unless_the_setting_says_so() {
    let collector = Collector::start().await;
    for (setting, has_id) in [("traces.user_ids=false", false), ("traces.user_ids=true", true)] {
        let running = traced(&collector).set("traces.sample=1").set(setting).serve().await;
        let email = format!("Ada.Lovelace.{has_id}@example.org");
        let session = Session::of(&running.anon().sign_up(&email, PASSWORD).send().await);
        let ada = running.anon().with_bearer(&session.access_token);
        ada.get("/api/profiles/me?secret_query=visible").send().await.expect(200);
        let wrong = running.anon().sign_in(&email, "wrong password").send().await;
        wrong.refused(401, "INVALID_CREDENTIALS");
        running.stop().await.good();

        let all: Vec<u8> =
            collector.requests.lock().unwrap().iter().flat_map(|(_, body)| body.clone()).collect();
        let all = String::from_utf8_lossy(&all).to_lowercase();
        for secret in
            ["ada.lovelace", PASSWORD, "wrong password", "secret_query", "visible", &session.access_token]
        {
            assert!(!all.contains(&secret.to_lowercase()), "{secret} is in a span");
        }
        assert_eq!(all.contains(&session.user_id), has_id, "{setting}");
    }
}

#[tokio::test]
async fn failed_request_is_sent_although_nothing_is_sampled() {
    let collector = Collector::start().await;
    let binary = traced(&collector).set("traces.sample=0");
    let running = binary.serve().await;
    running.anon().get("/health/ready").send().await.expect(200);
    std::fs::rename(binary.path("latchkey-data/latchkey.db"), binary.path("away")).unwrap();
    eventually("the loss is noticed", async || {
        let answer = running.anon().sign_in("ada@example.org", PASSWORD).send().await;
        (answer.status == 503).then_some(())
    })
    .await;

    let failed = collector.span("request", ("http.response.status_code", "503")).await;

    assert!(failed.is_error, "{failed:?}");
    let kept = collector.spans();
    assert!(kept.iter().all(|span| span.name != "request" || span.is_error), "{kept:#?}");
    std::fs::rename(binary.path("away"), binary.path("latchkey-data/latchkey.db")).unwrap();
    running.stop().await;
}

#[tokio::test]
async fn trace_is_continued_from_a_trusted_proxy_alone() {
    let collector = Collector::start().await;
    let parent = format!("00-{TRACE}-b7ad6b7169203331-01");
    let binary = traced(&collector).set("traces.sample=0");
    for (binary, is_trusted) in
        [(binary.clone(), false), (binary.set("server.trusted_proxies=127.0.0.1"), true)]
    {
        let running = binary.serve().await;
        running.anon().with_header("traceparent", &parent).get("/health/live").send().await.expect(200);
        running.stop().await.good();

        let spans = collector.spans();
        assert_eq!(spans.len(), usize::from(is_trusted), "{spans:#?}");
        if let Some(span) = spans.first() {
            let trace = hex::encode(&span.trace);
            assert_eq!((trace.as_str(), span.parent.as_slice()), (TRACE, &PARENT[..]));
        }
    }
}

#[tokio::test]
async fn collector_that_is_away_costs_nothing_but_spans() {
    let collector = Collector::start().await;
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap(); // accepts, and never answers
    let gone = collector.address.port();
    for address in
        [format!("127.0.0.1:{}", if gone == 1 { 2 } else { 1 }), silent.local_addr().unwrap().to_string()]
    {
        let binary = Binary::new().set(&format!("traces.endpoint=http://{address}")).set("traces.sample=1");
        let running = binary.serve().await;
        for _ in 0..50 {
            let asked =
                tokio::time::timeout(Duration::from_secs(20), running.anon().get("/health/live").send());
            asked.await.expect("a response in time").expect(200);
        }

        let output = running.stop().await;

        assert_eq!(output.code, Some(0), "{output:#?}");
        assert!(output.err.matches("could not be sent to the collector").count() <= 3, "{output:#?}");
    }
}

#[tokio::test]
async fn headers_of_the_file_reach_the_collector_and_no_log() {
    let collector = Collector::start().await;
    let binary =
        traced(&collector).set("traces.sample=1").set("traces.headers_file=headers").set("log.level=trace");
    std::fs::write(
        binary.path("headers"),
        "# of the collector\nAuthorization: Bearer key-of-the-collector\n",
    )
    .unwrap();
    let running = binary.serve().await;
    running.anon().get("/health/live").send().await.expect(200);

    let output = running.stop().await;

    let requests = collector.requests.lock().unwrap().clone();
    assert!(requests[0].0.contains("\r\nAuthorization: Bearer key-of-the-collector\r\n"), "{requests:?}");
    assert!(!output.err.contains("key-of-the-collector"));
}

#[tokio::test]
async fn headers_that_cannot_be_read_are_refused_by_check_and_start() {
    let binary =
        Binary::new().set("traces.endpoint=http://127.0.0.1:4318").set("traces.headers_file=headers");
    assert_refused(&binary, &["- traces.headers_file: headers: ", "or unset the key"]).await;
    std::fs::write(binary.path("headers"), "# of the collector\nAuthorization\n").unwrap();

    assert_refused(&binary, &["- traces.headers_file: headers: line 2 is no header; write `Name: value`"])
        .await;
}

#[tokio::test]
async fn headers_that_every_user_can_read_are_a_warning() {
    let binary =
        Binary::new().set("traces.endpoint=http://127.0.0.1:4318").set("traces.headers_file=headers");
    std::fs::write(binary.path("headers"), "Authorization: Bearer hunter2hunter2\n").unwrap();
    for (mode, is_warned) in [(0o644, true), (0o640, false)] {
        std::fs::set_permissions(binary.path("headers"), Permissions::from_mode(mode)).unwrap();

        let checked = binary.run(&["config", "check"]).await;

        let words = "traces.headers_file: every user of this machine can open headers (mode 0644)";
        assert_eq!(checked.good().contains(words), is_warned, "{checked:?}");
    }
}
