//! Recorded results of a drill: times of acknowledged writes, response times, and violations.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use latchkey_testkit::Answer;
use tokio::time::Instant;

/// Shared record of all clients.
pub struct Record {
    start: Instant,
    measurements: Mutex<Measurements>,
}

#[derive(Default)]
struct Measurements {
    /// Responses by instance and status.
    answers: BTreeMap<(usize, u16), u64>,
    /// Times of acknowledged writes, each with its instance.
    writes: Vec<(usize, Instant)>,
    /// Slowest response.
    slowest: Duration,
    /// Violations.
    faults: Vec<String>,
}

impl Record {
    pub fn new() -> Self {
        Self { start: Instant::now(), measurements: Mutex::default() }
    }

    /// Records a response. True if it succeeded; false if the service reports unavailable storage. Anything else is a
    /// violation.
    pub fn judge(&self, instance: usize, answer: &Answer, wanted: &[u16], took: Duration) -> bool {
        let mut measurements = self.measurements();
        *measurements.answers.entry((instance, answer.status)).or_default() += 1;
        measurements.slowest = measurements.slowest.max(took);
        if wanted.contains(&answer.status) {
            return true;
        }
        let is_unavailable = answer.status == 503
            && answer.error_code() == "STORAGE_UNAVAILABLE"
            && answer.header("retry-after").is_some_and(|seconds| seconds.parse::<u32>().is_ok());
        if !is_unavailable {
            measurements.faults.push(format!("instance {instance}: {answer:?}"));
        }
        false
    }

    /// Records a violation.
    pub fn fault(&self, text: String) {
        self.measurements().faults.push(text);
    }

    /// Records an acknowledged write.
    pub fn write(&self, instance: usize) {
        self.measurements().writes.push((instance, Instant::now()));
    }

    /// Number of writes that an instance acknowledged since a moment.
    pub fn writes_since(&self, instance: usize, since: Instant) -> usize {
        self.measurements().writes.iter().filter(|(at, when)| *at == instance && *when > since).count()
    }

    /// Time from a moment to an instance's first acknowledged write.
    pub fn first_write(&self, instance: usize, since: Instant) -> Option<Duration> {
        let measurements = self.measurements();
        let after = measurements.writes.iter().filter(|(at, when)| *at == instance && *when > since);
        after.map(|(_, when)| *when - since).min()
    }

    /// Number of responses with this status so far.
    pub fn count(&self, status: u16) -> u64 {
        self.measurements()
            .answers
            .iter()
            .filter(|((_, known), _)| *known == status)
            .map(|(_, count)| count)
            .sum()
    }

    /// Prints the results, and panics on a violation.
    pub fn close(&self) {
        let measurements = self.measurements();
        println!(
            "{:.1} s of load; answers by (instance, status): {:?}",
            self.start.elapsed().as_secs_f64(),
            measurements.answers
        );
        println!(
            "writes acknowledged: {}; slowest answer: {:?}",
            measurements.writes.len(),
            measurements.slowest
        );
        assert!(
            measurements.faults.is_empty(),
            "{} faults:\n{}",
            measurements.faults.len(),
            measurements.faults.join("\n")
        );
    }

    fn measurements(&self) -> MutexGuard<'_, Measurements> {
        self.measurements.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
