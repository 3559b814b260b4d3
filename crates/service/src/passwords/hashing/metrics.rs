//! Metrics of the hashing threads, and their spans in traces.

use std::time::Duration;

use latchkey_domain::words;
use latchkey_metrics::cell::Cell;
use latchkey_metrics::{About, Collect, Counter, Family, Gauge, Histogram, Kind, Page};
use tracing::Span;

const SECONDS: About = About {
    name: "hash_seconds",
    help: "Time of computing a password hash on its thread, by class of work.",
};
const QUEUE: About = About { name: "hash_queue", help: "Hashes that wait for a thread." };
const REFUSALS: About =
    About { name: "hash_refusals", help: "Hashes that were refused because the queue was full." };

/// Upper bounds in nanoseconds: 10 ms, 50 ms, 250 ms, 1 s.
const BOUNDS: &[u64] = &[10_000_000, 50_000_000, 250_000_000, 1_000_000_000];

words! {
    /// Class of the work of a hash.
    pub(super) enum WorkClass {
        /// A hash of our own, with the work that fills it up.
        Own = "own",
        /// A hash from elsewhere, of whatever scheme: one histogram for each would have too many series.
        Elsewhere = "elsewhere",
    }
}

/// Metrics of one pool of hashing threads.
pub(crate) struct HashMetrics {
    seconds: Family<(WorkClass,), Histogram>,
    queue: Gauge,
    refusals: Counter,
}

impl Default for HashMetrics {
    fn default() -> Self {
        Self {
            seconds: Family::of_words(SECONDS, "class", || Histogram::of_seconds(BOUNDS)),
            queue: Gauge::default(),
            refusals: Counter::default(),
        }
    }
}

impl HashMetrics {
    pub(super) fn enqueue(&self) {
        self.queue.add(1);
    }

    pub(super) fn dequeue(&self) {
        self.queue.add(-1);
    }

    /// Takes a hash back that did not fit into the queue.
    pub(super) fn refuse(&self) {
        self.queue.add(-1);
        self.refusals.count();
    }

    pub(super) fn record(&self, class: WorkClass, time: Duration) {
        self.seconds.of((class,)).record_time(time);
    }
}

impl Collect for HashMetrics {
    fn collect(&self, page: &mut Page) {
        self.seconds.write(page);
        page.gauge(QUEUE, self.queue.get().max(0));
        page.begin(REFUSALS, Kind::Counter);
        self.refusals.write(page, "");
    }

    fn most_series(&self) -> usize {
        self.seconds.most_series() + 2
    }
}

/// The spans of a hash: one while it waits for a thread, one while it is computed.
pub(super) struct HashSpans {
    /// The request that wants the hash.
    parent: Span,
    wait: Span,
}

impl HashSpans {
    /// Begins the wait.
    pub(super) fn begin() -> Self {
        let wait = tracing::info_span!(target: "traces", "hash wait");
        let parent = if wait.is_disabled() { Span::none() } else { Span::current() };
        Self { parent, wait }
    }

    /// Ends the wait and begins the work, which ends when the returned span is dropped.
    pub(super) fn work(&mut self) -> Span {
        self.wait = Span::none();
        tracing::info_span!(target: "traces", parent: &self.parent, "hash work")
    }
}
