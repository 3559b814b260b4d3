//! Readers of the metrics, for tests.
#![allow(unreachable_pub, reason = "one crate; `pub` reads easier")]

use std::collections::BTreeMap;

use latchkey_testkit::TestApp;

/// Values of the exposition by series, such as `latchkey_sign_ins_total{method="password",outcome="opened"}`.
pub struct Metrics {
    pub text: String,
    values: BTreeMap<String, f64>,
}

/// Reads the metrics as an admin, in the text format.
pub async fn metrics(app: &TestApp) -> Metrics {
    let answer = app.admin().get("/metrics").send().await;
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"), "{answer:?}");
    Metrics::of(answer.text())
}

impl Metrics {
    /// Parses the exposition. A series that occurs twice is a fault.
    pub fn of(text: &str) -> Self {
        let mut values = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (series, value) = line.rsplit_once(' ').expect("a sample");
            let before = values.insert(series.to_owned(), value.parse().expect("a number"));
            assert_eq!(before, None, "{series} is there twice");
        }
        Self { text: text.to_owned(), values }
    }

    /// Value of a series; 0 if it is absent.
    pub fn value(&self, series: &str) -> f64 {
        self.values.get(series).copied().unwrap_or_default()
    }

    /// Sum of all series that begin so.
    pub fn sum(&self, beginning: &str) -> f64 {
        self.values.iter().filter(|(series, _)| series.starts_with(beginning)).map(|(_, value)| value).sum()
    }

    pub fn series(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// Names of the families.
    pub fn families(&self) -> Vec<&str> {
        let types = self.text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
        types.filter_map(|line| line.split(' ').next()).collect()
    }
}

/// Asserts that a call of a service increased series by these numbers. Each is the beginning of a series.
#[track_caller]
pub fn assert_grown(before: &Metrics, after: &Metrics, expected: &[(&str, f64)]) {
    for (series, by) in expected {
        let grown = after.sum(series) - before.sum(series);
        assert!((grown - by).abs() < 1e-9, "{series} grew by {grown}, not by {by}");
    }
}
