//! The export of traces to a collector: a thread that sends finished spans by OTLP over HTTP. A collector that is away costs
//! the spans that wait for it, and nothing else.

mod collector;
mod otlp;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use latchkey_log::traces::{FinishedSpan, Traces};
use uuid::Uuid;

use self::collector::Collector;
use crate::settings::TraceSettings;

/// Maximum number of traces that wait to be sent.
const QUEUE: usize = 1_024;
/// Number of spans from which a batch is sent at once.
const BATCH: usize = 512;
/// Longest time that a finished trace waits for others.
const PAUSE: Duration = Duration::from_secs(1);
/// Number of failed batches in a row that one log line stands for.
const SILENT: u64 = 60;

/// The thread that sends spans. Dropping it sends the rest.
pub struct TraceExport {
    queue: SyncSender<Vec<FinishedSpan>>,
    /// True once the process ends: the first batch that fails is then the last.
    is_ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Setting with the file of headers.
pub(crate) const HEADERS_FILE: &str = "traces.headers_file";

/// Reason for which traces cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    #[error("{HEADERS_FILE}: {0}")]
    Headers(#[from] HeadersError),
    /// The thread cannot be started.
    #[error("traces: the thread that sends them cannot be started: {0}")]
    Thread(io::Error),
}

/// Reason for which the file of headers cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HeadersError {
    #[error("{}: {source}; write the headers there, one `Name: value` a line, or unset the key", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}: line {line} is no header; write `Name: value`", .path.display())]
    NoHeader { path: PathBuf, line: usize },
}

/// Checks what [`start`] reads, and starts nothing.
pub(crate) fn check(settings: &TraceSettings) -> Result<(), HeadersError> {
    Collector::of(settings).map(drop)
}

/// Starts the thread; returns it, and what the log needs to collect spans. `None` without a collector.
pub fn start(settings: &TraceSettings) -> Result<Option<(TraceExport, Traces)>, TraceError> {
    let Some(collector) = Collector::of(settings)? else { return Ok(None) };
    let (queue, waiting) = sync_channel(QUEUE);
    let is_ending = Arc::<AtomicBool>::default();
    let seen = Arc::clone(&is_ending);
    let thread = std::thread::Builder::new()
        .name("traces".to_owned())
        .spawn(move || send_all(&collector, &waiting, &seen))
        .map_err(TraceError::Thread)?;
    let traces = Traces { sample: settings.sample, random, queue: queue.clone() };
    Ok(Some((TraceExport { queue, is_ending, thread: Some(thread) }, traces)))
}

/// Returns a random number for an id, as the ids of requests are made (ADR 0025).
#[expect(clippy::disallowed_methods, reason = "the id of a span decides nothing")]
fn random() -> u64 {
    Uuid::new_v4().as_u64_pair().0
}

impl Drop for TraceExport {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::Relaxed);
        // An empty trace ends the thread. If the queue is full, the collector is away, and nothing can be sent.
        if self.queue.try_send(Vec::new()).is_ok()
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join(); // the timeout of a request bounds the wait
        }
    }
}

/// Sends batches until an empty trace arrives, or until one fails at the end of the process.
fn send_all(collector: &Collector, waiting: &Receiver<Vec<FinishedSpan>>, is_ending: &AtomicBool) {
    let mut failures = 0_u64;
    let mut is_last = false;
    while !is_last {
        let Ok(mut spans) = waiting.recv() else { return };
        is_last = spans.is_empty();
        while !is_last && spans.len() < BATCH {
            let Ok(more) = waiting.recv_timeout(PAUSE) else { break };
            is_last = more.is_empty();
            spans.extend(more);
        }
        if spans.is_empty() {
            continue;
        }
        match collector.send(&otlp::encode(&spans)) {
            Ok(()) => failures = 0,
            Err(reason) => {
                if failures.is_multiple_of(SILENT) {
                    tracing::warn!(reason, lost = spans.len(), "spans could not be sent to the collector");
                }
                failures += 1;
                if is_ending.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
    }
}
