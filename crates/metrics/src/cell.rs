//! Cells: the numbers of one combination of labels. Recording is one or two relaxed atomic additions and never waits.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::page::{Kind, Page};

/// Nanoseconds of a second.
const SECOND: f64 = 1e9;

/// The numbers of one combination of labels.
pub trait Cell: Send + Sync {
    const KIND: Kind;

    /// Returns the number of series that the cell is exposed as.
    fn series(&self) -> usize;

    /// True if nothing was recorded yet.
    fn is_untouched(&self) -> bool;

    /// Writes the samples. `labels` is the text between the braces.
    fn write(&self, page: &mut Page, labels: &str);
}

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn count(&self) {
        self.add(1);
    }

    pub fn add(&self, number: u64) {
        self.0.fetch_add(number, Relaxed);
    }

    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl Cell for Counter {
    const KIND: Kind = Kind::Counter;

    fn series(&self) -> usize {
        1
    }

    fn is_untouched(&self) -> bool {
        self.get() == 0
    }

    fn write(&self, page: &mut Page, labels: &str) {
        page.sample("_total", labels, self.get());
    }
}

/// A number that goes up and down.
#[derive(Debug, Default)]
pub struct Gauge(AtomicI64);

/// One unit of a [`Gauge`], taken back on drop.
#[derive(Debug)]
pub struct Held<'a>(&'a Gauge);

impl Gauge {
    /// Adds one until the returned guard is dropped.
    #[must_use = "dropping it takes the unit back"]
    pub fn hold(&self) -> Held<'_> {
        self.add(1);
        Held(self)
    }

    pub fn add(&self, number: i64) {
        self.0.fetch_add(number, Relaxed);
    }

    #[must_use]
    pub fn get(&self) -> i64 {
        self.0.load(Relaxed)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.add(-1);
    }
}

impl Cell for Gauge {
    const KIND: Kind = Kind::Gauge;

    fn series(&self) -> usize {
        1
    }

    fn is_untouched(&self) -> bool {
        self.get() == 0
    }

    fn write(&self, page: &mut Page, labels: &str) {
        page.sample("", labels, self.get());
    }
}

/// The distribution of a number over fixed bounds.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [u64],
    /// What is exposed as 1: nanoseconds are exposed as seconds.
    unit: f64,
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

impl Histogram {
    /// Creates a distribution of durations. The bounds are in nanoseconds, in ascending order.
    #[must_use]
    pub fn of_seconds(bounds: &'static [u64]) -> Self {
        Self::new(bounds, SECOND)
    }

    /// Creates a distribution of plain numbers. The bounds are in ascending order.
    #[must_use]
    pub fn of_numbers(bounds: &'static [u64]) -> Self {
        Self::new(bounds, 1.0)
    }

    fn new(bounds: &'static [u64], unit: f64) -> Self {
        let counts = std::iter::repeat_with(AtomicU64::default).take(bounds.len() + 1).collect();
        Self { bounds, unit, counts, sum: AtomicU64::default() }
    }

    pub fn record(&self, number: u64) {
        let place = self.bounds.iter().position(|bound| number <= *bound).unwrap_or(self.bounds.len());
        self.counts[place].fetch_add(1, Relaxed);
        self.sum.fetch_add(number, Relaxed);
    }

    pub fn record_time(&self, time: Duration) {
        self.record(nanoseconds(time));
    }
}

impl Cell for Histogram {
    const KIND: Kind = Kind::Histogram;

    fn series(&self) -> usize {
        self.counts.len() + 2
    }

    fn is_untouched(&self) -> bool {
        self.counts.iter().all(|count| count.load(Relaxed) == 0)
    }

    fn write(&self, page: &mut Page, labels: &str) {
        let mut so_far = 0;
        for (place, count) in self.counts.iter().enumerate() {
            so_far += count.load(Relaxed);
            let bound = self.bounds.get(place).map(|bound| scaled(*bound, self.unit));
            page.bucket(labels, bound, so_far);
        }
        page.sample("_sum", labels, scaled(self.sum.load(Relaxed), self.unit));
        page.sample("_count", labels, so_far);
    }
}

/// The number and the sum of durations: a summary without quantiles, for families with too many labels for a
/// [`Histogram`].
#[derive(Debug, Default)]
pub struct Times {
    count: AtomicU64,
    sum: AtomicU64,
}

impl Times {
    /// Number of series.
    pub const SERIES: usize = 2;

    pub fn record(&self, time: Duration) {
        self.count.fetch_add(1, Relaxed);
        self.sum.fetch_add(nanoseconds(time), Relaxed);
    }
}

impl Cell for Times {
    const KIND: Kind = Kind::Summary;

    fn series(&self) -> usize {
        Self::SERIES
    }

    fn is_untouched(&self) -> bool {
        self.count.load(Relaxed) == 0
    }

    fn write(&self, page: &mut Page, labels: &str) {
        page.sample("_sum", labels, scaled(self.sum.load(Relaxed), SECOND));
        page.sample("_count", labels, self.count.load(Relaxed));
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a sum of more than 104 days is rounded to the nanosecond's multiple"
)]
fn scaled(number: u64, unit: f64) -> f64 {
    number as f64 / unit
}
