//! Traces: collects the spans of a request or job while it runs, and passes them on at its end if the trace is sampled or
//! failed. How they leave the process is not decided here.
//!
//! Spans and events of the target [`TARGET`] are for traces alone: the log has none of them. While traces are off, their
//! call sites are disabled, and cost a comparison.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Target of spans and events that are for traces alone.
pub const TARGET: &str = "traces";
/// Target of the span of a request, which the log has too.
const REQUESTS: &str = "latchkey_http::middleware";
/// Names of the spans that begin a trace: a request, and the delivery of a mail. Others are left out without one of these
/// above them, such as the queries of workers.
const ROOTS: [&str; 2] = ["request", "deliver"];
/// Most spans of one trace. Further ones are dropped.
const MOST_SPANS: usize = 512;

/// Id of a span.
pub type SpanId = [u8; 8];

/// A finished span.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedSpan {
    pub trace_id: [u8; 16],
    pub id: SpanId,
    /// The parent, which may be a span of another process.
    pub parent: Option<SpanId>,
    pub name: &'static str,
    /// True for the first span of this process: a request or a job.
    pub is_root: bool,
    pub started_at: SystemTime,
    pub ended_at: SystemTime,
    pub attributes: Vec<(&'static str, Attribute)>,
    pub is_error: bool,
}

/// Value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Attribute {
    Text(String),
    Number(i64),
}

/// Where finished traces go, and which.
pub struct Traces {
    /// Share of the traces that are kept, 0 to 1. Failed ones are always kept.
    pub sample: f64,
    /// Generator of random numbers, for ids.
    pub random: fn() -> u64,
    /// The queue of finished traces. While it is full, traces are dropped.
    pub queue: SyncSender<Vec<FinishedSpan>>,
    /// Number of spans that were dropped because the queue was full.
    pub dropped: Arc<AtomicU64>,
}

/// The layer of `tracing` that collects spans.
struct TraceLayer(Traces);

/// The spans of a trace that have finished in this process.
struct Trace {
    id: [u8; 16],
    is_sampled: bool,
    is_failed: AtomicBool,
    finished: Mutex<Vec<FinishedSpan>>,
}

/// A span that has not finished.
struct Open {
    trace: Arc<Trace>,
    span: FinishedSpan,
}

impl Traces {
    pub(crate) fn into_layer<S>(self) -> impl Layer<S> + Send + Sync
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        Layer::<S>::with_filter(TraceLayer(self), filter())
    }
}

/// Returns the filter of the layer: spans of requests, and what is for traces alone.
fn filter() -> Targets {
    Targets::new().with_target(TARGET, LevelFilter::INFO).with_target(REQUESTS, LevelFilter::INFO)
}

impl TraceLayer {
    /// Begins a trace, under the id that the fields of its first span name, if they do.
    fn begin(&self, fields: &Fields) -> Arc<Trace> {
        let id = fields.trace_id.unwrap_or_else(|| self.new_trace_id());
        let [.., a, b, c, d] = id;
        let place = f64::from(u32::from_be_bytes([a, b, c, d])) / f64::from(u32::MAX);
        Arc::new(Trace {
            id,
            is_sampled: fields.is_sampled || place < self.0.sample,
            is_failed: AtomicBool::new(false),
            finished: Mutex::default(),
        })
    }

    fn new_trace_id(&self) -> [u8; 16] {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&(self.0.random)().to_be_bytes());
        id[8..].copy_from_slice(&(self.0.random)().to_be_bytes());
        id
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for TraceLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let fields = Fields::of(|visit| attributes.record(visit));
        let above = span.scope().skip(1).find_map(|one| {
            let open = one.extensions();
            let open = open.get::<Open>()?;
            Some((Arc::clone(&open.trace), open.span.id))
        });
        let is_root = above.is_none();
        if is_root && !ROOTS.contains(&attributes.metadata().name()) {
            return;
        }
        let (trace, parent) = match above {
            Some((trace, parent)) => (trace, Some(parent)),
            None => (self.begin(&fields), fields.parent_id),
        };
        let now = now();
        let span_of_trace = FinishedSpan {
            trace_id: trace.id,
            id: (self.0.random)().to_be_bytes(),
            parent,
            name: attributes.metadata().name(),
            is_root,
            started_at: now,
            ended_at: now,
            attributes: fields.attributes,
            is_error: false,
        };
        span.extensions_mut().insert(Open { trace, span: span_of_trace });
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        add(&span, Fields::of(|visit| values.record(visit)));
    }

    /// Adds the fields of an event to the first span of the trace.
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if event.metadata().target() != TARGET {
            return;
        }
        let Some(root) = context.event_scope(event).and_then(|scope| scope.from_root().next()) else {
            return;
        };
        add(&root, Fields::of(|visit| event.record(visit)));
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let Some(Open { trace, mut span }) = span.extensions_mut().remove::<Open>() else { return };
        span.ended_at = now();
        let is_root = span.is_root;
        let mut finished = trace.finished.lock().unwrap_or_else(PoisonError::into_inner);
        if finished.len() < MOST_SPANS {
            finished.push(span);
        }
        if is_root && (trace.is_sampled || trace.is_failed.load(Relaxed)) {
            // A full queue means that the collector does not keep up. Spans are then lost, and nothing waits.
            let spans = std::mem::take(&mut *finished);
            let count = spans.len() as u64;
            if self.0.queue.try_send(spans).is_err() {
                self.0.dropped.fetch_add(count, Relaxed);
            }
        }
    }
}

fn add<'a, R: LookupSpan<'a>>(span: &tracing_subscriber::registry::SpanRef<'a, R>, fields: Fields) {
    let mut extensions = span.extensions_mut();
    let Some(open) = extensions.get_mut::<Open>() else { return };
    if fields.is_error {
        open.span.is_error = true;
        open.trace.is_failed.store(true, Relaxed);
    }
    open.span.attributes.extend(fields.attributes);
}

/// The fields of a span or event.
#[derive(Default)]
struct Fields {
    trace_id: Option<[u8; 16]>,
    parent_id: Option<SpanId>,
    is_sampled: bool,
    is_error: bool,
    attributes: Vec<(&'static str, Attribute)>,
}

impl Fields {
    fn of(record: impl FnOnce(&mut dyn Visit)) -> Self {
        let mut fields = Self::default();
        record(&mut fields);
        fields
    }

    fn text(&mut self, name: &'static str, text: &str) {
        match name {
            "trace_id" => self.trace_id = bytes(text),
            "parent_id" => self.parent_id = bytes(text),
            "message" => {}
            name => self.attributes.push((name, Attribute::Text(text.to_owned()))),
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.text(field.name(), &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field.name(), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        match field.name() {
            "is_sampled" => self.is_sampled = value,
            "is_error" => self.is_error = value,
            _ => {}
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.attributes.push((field.name(), Attribute::Number(value)));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.record_i64(field, i64::try_from(value).unwrap_or(i64::MAX));
    }
}

/// Reads an id of this many bytes in hexadecimal digits.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut id = [0; N];
    if text.len() != 2 * N || !text.is_ascii() {
        return None;
    }
    for (place, byte) in id.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * place..2 * place + 2], 16).ok()?;
    }
    Some(id)
}

#[expect(clippy::disallowed_methods, reason = "the times of spans decide nothing")]
fn now() -> SystemTime {
    SystemTime::now()
}
