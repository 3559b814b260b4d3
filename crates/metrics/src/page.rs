//! The exposition of metrics, in two formats. They differ in the names of counters in the comments, and in the end mark.

use std::borrow::Cow;
use std::fmt::{Display, Write};

/// Prefix of the names of all families but those of the process, whose names are Prometheus's own.
const PREFIX: &str = "latchkey_";
const PROCESS: &str = "process_";

/// Name and description of a family. The name has neither the prefix `latchkey_` nor the suffix `_total`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    pub name: &'static str,
    /// A sentence without line breaks.
    pub help: &'static str,
}

/// Type of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Counter,
    Gauge,
    Histogram,
    /// A summary without quantiles.
    Summary,
    /// The constant 1, with facts as labels.
    Info,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `OpenMetrics` 1.0.
    OpenMetrics,
    /// Prometheus text 0.0.4.
    Text,
}

impl Format {
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// An exposition that is being written.
#[derive(Debug)]
pub struct Page {
    format: Format,
    text: String,
    /// Full name of the family that was begun last.
    name: String,
    samples: usize,
}

impl Page {
    #[must_use]
    pub const fn new(format: Format) -> Self {
        Self { format, text: String::new(), name: String::new(), samples: 0 }
    }

    /// Begins a family. The samples that follow belong to it.
    pub fn begin(&mut self, about: About, kind: Kind) {
        let prefix = if about.name.starts_with(PROCESS) { "" } else { PREFIX };
        self.name = format!("{prefix}{}", about.name);
        let (kind, suffix) = match (kind, self.format) {
            (Kind::Counter, Format::Text) => ("counter", "_total"),
            (Kind::Info, Format::Text) => ("gauge", "_info"),
            (Kind::Counter, Format::OpenMetrics) => ("counter", ""),
            (Kind::Info, Format::OpenMetrics) => ("info", ""),
            (Kind::Gauge, _) => ("gauge", ""),
            (Kind::Histogram, _) => ("histogram", ""),
            (Kind::Summary, _) => ("summary", ""),
        };
        let (name, help) = (&self.name, about.help);
        // Writing into a text cannot fail.
        let _ = writeln!(self.text, "# HELP {name}{suffix} {help}\n# TYPE {name}{suffix} {kind}");
    }

    /// Writes a sample of the current family. `labels` is the text between the braces; see [`label`].
    pub fn sample(&mut self, suffix: &str, labels: &str, value: impl Display) {
        self.samples += 1;
        let (open, close) = if labels.is_empty() { ("", "") } else { ("{", "}") };
        let _ = writeln!(self.text, "{}{suffix}{open}{labels}{close} {value}", self.name);
    }

    /// Writes the bucket of a histogram; `None` is the bound of the last bucket, infinity.
    pub(crate) fn bucket(&mut self, labels: &str, bound: Option<f64>, count: u64) {
        let comma = if labels.is_empty() { "" } else { "," };
        let bound = bound.map_or_else(|| "+Inf".to_owned(), |bound| format!("{bound:?}"));
        self.sample("_bucket", &format!("{labels}{comma}le=\"{bound}\""), count);
    }

    /// Writes a family of one gauge.
    pub fn gauge(&mut self, about: About, value: impl Display) {
        self.begin(about, Kind::Gauge);
        self.sample("", "", value);
    }

    /// Writes a family of gauges with one label.
    pub fn gauges<V: Display>(
        &mut self,
        about: About,
        name: &str,
        values: impl IntoIterator<Item = (&'static str, V)>,
    ) {
        self.begin(about, Kind::Gauge);
        for (word, value) in values {
            self.sample("", &label(name, word), value);
        }
    }

    /// Returns the number of samples so far, each of which is a series.
    #[must_use]
    pub const fn samples(&self) -> usize {
        self.samples
    }

    /// Ends the exposition.
    #[must_use]
    pub fn finish(mut self) -> String {
        if self.format == Format::OpenMetrics {
            self.text.push_str("# EOF\n");
        }
        self.text
    }
}

/// Writes a label with its value, escaped.
#[must_use]
pub fn label(name: &str, value: &str) -> String {
    let mut escaped = Cow::Borrowed(value);
    if value.contains(['\\', '"', '\n']) {
        escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").into();
    }
    [name, "=\"", &escaped, "\""].concat() // without the cost of `format!`: a start makes a thousand
}
