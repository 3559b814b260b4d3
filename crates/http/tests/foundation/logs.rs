//! Tests of the log lines of a request.

use std::cell::RefCell;
use std::io::Write;
use std::sync::Once;

use crate::app::{REQUEST_ID, get_from, get_of, router, send, send_to, settings};

thread_local! {
    /// The log of this thread. Every test runs on a thread of its own.
    static LOG: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Writes to the log of the thread.
struct ThreadLog;

impl Write for ThreadLog {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOG.with_borrow_mut(|log| log.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Redirects the log to [`LOG`]. Must run before the first request of the process.
pub(crate) fn catch() {
    static CATCH: Once = Once::new();
    CATCH.call_once(|| tracing_subscriber::fmt().with_ansi(false).with_writer(|| ThreadLog).init());
}

/// The log lines of a request.
async fn lines_of(path: &str) -> Vec<String> {
    send(get_of(path)).await;
    lines()
}

/// The log lines since the last call.
fn lines() -> Vec<String> {
    String::from_utf8(LOG.take()).unwrap().lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn request_leaves_one_line_without_ids_and_query() {
    let lines = lines_of("/items/4711?token=secret").await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    for part in ["method=\"GET\"", "route=\"/items/{id}\"", "status=200", "ms=", REQUEST_ID] {
        assert!(lines[0].contains(part), "{part}: {}", lines[0]);
    }
    assert!(!lines[0].contains("4711") && !lines[0].contains("secret"));
}

#[tokio::test]
async fn unknown_path_is_not_in_the_log() {
    let lines = lines_of("/ada@example.org").await;
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("route=\"(none)\"") && !lines[0].contains("ada"));
}

#[tokio::test]
async fn failure_is_logged_once_with_its_request_and_escaped() {
    let lines = lines_of("/fail").await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("ERROR") && lines[0].contains("is gone") && lines[0].contains(REQUEST_ID));
}

#[tokio::test]
async fn refusal_is_logged_with_its_code_and_the_client() {
    let router = router(settings());

    send_to(&router, get_from("192.0.2.7", "/nowhere", &[])).await;
    send_to(&router, get_from("10.0.0.1", "/bare", &[("x-forwarded-for", "203.0.113.9")])).await;
    send_to(&router, get_from("::ffff:192.0.2.7", "/page", &[])).await;

    let lines = lines();
    let wanted =
        [("NOT_FOUND", "192.0.2.7"), ("FORBIDDEN", "203.0.113.9"), ("VALIDATION_ERROR", "192.0.2.7")];
    for (line, (code, client)) in lines.iter().zip(wanted) {
        assert!(line.contains(&format!("error=\"{code}\"")), "{line}");
        assert!(line.contains(&format!("client={client} ")), "{line}");
        assert!(!line.contains("limit="), "{line}");
    }
    assert_eq!(lines.len(), 3, "{lines:?}");
}

#[tokio::test]
async fn refusal_by_a_limit_is_logged_with_its_name() {
    let lines = lines_of("/limited").await;
    assert!(lines[0].contains("error=\"TOO_MANY_REQUESTS\" limit=\"search, per address\""), "{lines:?}");
}

#[tokio::test]
async fn good_answer_is_logged_without_the_client() {
    let lines = lines_of("/ok").await;
    assert!(!lines[0].contains("error=") && !lines[0].contains("client="), "{lines:?}");
    assert!(!lines[0].contains("192.0.2.7"), "{lines:?}");
}

#[tokio::test]
async fn forwarded_request_of_an_untrusted_peer_is_warned_of_once() {
    let router = router(settings());
    let forwarded = [("x-forwarded-for", "203.0.113.9")];

    for peer in ["172.16.0.5", "172.16.0.5", "172.16.0.6"] {
        send_to(&router, get_from(peer, "/ok", &forwarded)).await;
    }

    let lines = lines();
    let warnings: Vec<_> = lines.iter().filter(|line| line.contains("WARN")).collect();
    assert_eq!(warnings.len(), 1, "{lines:?}");
    assert!(warnings[0].contains(r#"server.trusted_proxies = ["10.0.0.0/8", "172.16.0.5"]"#), "{lines:?}");
    assert!(!warnings[0].contains("203.0.113.9"), "{lines:?}");
}

#[tokio::test]
async fn stranger_does_not_use_up_the_warning_about_the_proxy() {
    let router = router(settings());

    for (peer, header) in
        [("198.51.100.7", "x-real-ip"), ("198.51.100.8", "x-real-ip"), ("127.0.0.1", "forwarded")]
    {
        send_to(&router, get_from(peer, "/ok", &[(header, "for=1.2.3.4")])).await;
    }

    let warned = lines().into_iter().filter(|line| line.contains("WARN")).collect::<Vec<_>>();
    assert_eq!(warned.len(), 2, "{warned:?}");
    assert!(warned[0].contains("198.51.100.7") && warned[1].contains("127.0.0.1"), "{warned:?}");
}

#[tokio::test]
async fn trusted_proxy_and_bare_requests_are_warned_of_never() {
    let router = router(settings());

    send_to(&router, get_from("10.0.0.1", "/ok", &[("x-forwarded-for", "203.0.113.9")])).await;
    send_to(&router, get_from("192.0.2.7", "/ok", &[])).await;

    assert!(lines().iter().all(|line| !line.contains("WARN")));
}

#[tokio::test]
async fn request_id_of_a_trusted_proxy_is_in_the_answer_and_in_the_line() {
    let router = router(settings());

    let answer = send_to(&router, get_from("10.0.0.1", "/fail", &[("x-request-id", "edge-7:a")])).await;

    assert_eq!(answer.header("x-request-id"), "edge-7:a");
    let lines = lines();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines.iter().all(|line| line.contains("request_id=edge-7:a")), "{lines:?}");
}

#[tokio::test]
async fn request_id_of_anybody_else_or_in_no_fit_form_is_not_taken() {
    let router = router(settings());
    let long = "a".repeat(129);

    for (peer, id) in [("192.0.2.7", "edge-7"), ("10.0.0.1", "a b"), ("10.0.0.1", ""), ("10.0.0.1", &long)] {
        let answer = send_to(&router, get_from(peer, "/ok", &[("x-request-id", id)])).await;
        assert_eq!(answer.header("x-request-id"), REQUEST_ID, "{peer} {id:?}");
    }
    assert!(lines().iter().all(|line| line.contains(REQUEST_ID)));
}
