//! The export of traces to a collector: a thread that sends finished spans by OTLP over HTTP. A collector that is away costs
//! the spans that wait for it, and nothing else.

mod collector;
mod otlp;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::time::Duration;

use latchkey_log::traces::{FinishedSpan, Traces};
use tokio::time::Instant;
use uuid::Uuid;

use self::collector::Collector;
use crate::settings::TraceSettings;

/// Maximum number of traces that wait to be sent.
const QUEUE: usize = 1_024;
/// Number of spans from which a batch is sent at once.
const BATCH: usize = 512;
/// Longest time that a finished trace waits for others.
const PAUSE: Duration = Duration::from_secs(1);
/// Time between two log lines about lost spans.
const SILENT: Duration = Duration::from_mins(1);
/// Longest time that the end of the process waits for the collector.
const END: Duration = Duration::from_secs(5);

/// The thread that sends spans. Dropping it sends the rest.
pub struct TraceExport {
    queue: SyncSender<Vec<FinishedSpan>>,
    /// True once the process ends: the first batch that fails is then the last.
    is_ending: Arc<AtomicBool>,
    /// Disconnected when the thread has ended.
    ended: Receiver<()>,
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
    let (is_ending, dropped) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
    let (seen, mut losses) = (Arc::clone(&is_ending), Losses::of(Arc::clone(&dropped)));
    let (ends, ended) = channel();
    std::thread::Builder::new()
        .name("traces".to_owned())
        .spawn(move || {
            send_all(&collector, &waiting, &seen, &mut losses);
            drop(ends);
        })
        .map_err(TraceError::Thread)?;
    let traces = Traces { sample: settings.sample, random, queue: queue.clone(), dropped };
    Ok(Some((TraceExport { queue, is_ending, ended }, traces)))
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
        if self.queue.try_send(Vec::new()).is_ok() {
            let _ = self.ended.recv_timeout(END); // the rest is lost if it takes longer
        }
    }
}

/// Spans that the collector did not get, and when the log was told.
struct Losses {
    /// Number of those that the queue had no place for.
    dropped: Arc<AtomicU64>,
    untold: u64,
    told_at: Option<Instant>,
}

impl Losses {
    const fn of(dropped: Arc<AtomicU64>) -> Self {
        Self { dropped, untold: 0, told_at: None }
    }

    /// Counts the losses of a batch of this many spans. The log gets the first ones at once, and a line a minute.
    fn count(&mut self, spans: usize, sent: &Result<(), String>) {
        self.untold += self.dropped.swap(0, Ordering::Relaxed);
        if sent.is_err() {
            self.untold += spans as u64;
        }
        if self.untold == 0 || self.told_at.is_some_and(|told_at| told_at.elapsed() < SILENT) {
            return;
        }
        let reason = sent.as_ref().err().map_or("it does not keep up", String::as_str);
        tracing::warn!(reason, lost = self.untold, "spans could not be sent to the collector");
        (self.untold, self.told_at) = (0, Some(Instant::now()));
    }
}

/// Sends batches until an empty trace arrives, or until one fails at the end of the process.
fn send_all(
    collector: &Collector,
    waiting: &Receiver<Vec<FinishedSpan>>,
    is_ending: &AtomicBool,
    losses: &mut Losses,
) {
    let mut is_last = false;
    while !is_last {
        let Ok(mut spans) = waiting.recv() else { return };
        is_last = spans.is_empty();
        let first = Instant::now();
        while !is_last && spans.len() < BATCH {
            let Ok(more) = waiting.recv_timeout(PAUSE.saturating_sub(first.elapsed())) else { break };
            is_last = more.is_empty();
            spans.extend(more);
        }
        if spans.is_empty() {
            continue;
        }
        let sent = collector.send(&otlp::encode(&spans));
        losses.count(spans.len(), &sent);
        if sent.is_err() && is_ending.load(Ordering::Relaxed) {
            return;
        }
    }
}
