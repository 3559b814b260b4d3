//! What a drill sees: when writes were acknowledged, how long answers took, and everything that no answer may be.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use latchkey_testkit::Answer;
use tokio::time::Instant;

/// The notes of all callers.
pub struct Record {
    start: Instant,
    notes: Mutex<Notes>,
}

#[derive(Default)]
struct Notes {
    /// Answers by instance and status.
    answers: BTreeMap<(usize, u16), u64>,
    /// When each instance acknowledged a write.
    writes: Vec<(usize, Instant)>,
    /// The slowest answer.
    slowest: Duration,
    /// What must not be.
    faults: Vec<String>,
}

impl Record {
    pub fn new() -> Self {
        Self { start: Instant::now(), notes: Mutex::default() }
    }

    /// Notes an answer. True where it is as good as can be; false where the service says that its storage does not
    /// work now. Anything else is a fault.
    pub fn judge(&self, instance: usize, answer: &Answer, wanted: &[u16], took: Duration) -> bool {
        let mut notes = self.notes();
        *notes.answers.entry((instance, answer.status)).or_default() += 1;
        notes.slowest = notes.slowest.max(took);
        if wanted.contains(&answer.status) {
            return true;
        }
        let is_unavailable = answer.status == 503
            && answer.error_code() == "STORAGE_UNAVAILABLE"
            && answer.header("retry-after").is_some_and(|seconds| seconds.parse::<u32>().is_ok());
        if !is_unavailable {
            notes.faults.push(format!("instance {instance}: {answer:?}"));
        }
        false
    }

    /// Notes what must not be.
    pub fn fault(&self, text: String) {
        self.notes().faults.push(text);
    }

    /// Notes a write that was acknowledged.
    pub fn write(&self, instance: usize) {
        self.notes().writes.push((instance, Instant::now()));
    }

    /// Writes that an instance acknowledged since.
    pub fn writes_since(&self, instance: usize, since: Instant) -> usize {
        self.notes().writes.iter().filter(|(at, when)| *at == instance && *when > since).count()
    }

    /// How long after a moment an instance acknowledged its first write.
    pub fn first_write(&self, instance: usize, since: Instant) -> Option<Duration> {
        let notes = self.notes();
        let after = notes.writes.iter().filter(|(at, when)| *at == instance && *when > since);
        after.map(|(_, when)| *when - since).min()
    }

    /// Answers with this status so far.
    pub fn count(&self, status: u16) -> u64 {
        self.notes().answers.iter().filter(|((_, known), _)| *known == status).map(|(_, count)| count).sum()
    }

    /// Prints what was seen, and panics where something must not have been.
    pub fn close(&self) {
        let notes = self.notes();
        println!(
            "{:.1} s of load; answers by (instance, status): {:?}",
            self.start.elapsed().as_secs_f64(),
            notes.answers
        );
        println!("writes acknowledged: {}; slowest answer: {:?}", notes.writes.len(), notes.slowest);
        assert!(notes.faults.is_empty(), "{} faults:\n{}", notes.faults.len(), notes.faults.join("\n"));
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
