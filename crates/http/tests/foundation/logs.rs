//! What the log says of a request.

use std::cell::RefCell;
use std::io::Write;
use std::sync::Once;

use crate::app::{REQUEST_ID, get_of, send};

thread_local! {
    /// What this thread has logged. A test runs on its own thread, so this is its log.
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

/// Catches the log, once and before the first request of the process.
pub(crate) fn catch() {
    static CATCH: Once = Once::new();
    CATCH.call_once(|| tracing_subscriber::fmt().with_ansi(false).with_writer(|| ThreadLog).init());
}

/// The lines that a request leaves.
async fn lines_of(path: &str) -> Vec<String> {
    send(get_of(path)).await;
    let bytes = LOG.take();
    String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
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
