//! The run of an import: a thread reads and prepares, this task writes batch after batch.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use latchkey_domain::imports::{ImportCounts, ImportState, Problem};
use latchkey_import::{ReadError, Records};
use latchkey_store::{BatchOutcome, BatchRecord, ImportBatch, RecordResult};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until};

use super::filling::Filling;
use super::pace::Pace;
use super::prepare::Preparer;
use super::seen::Seen;
use super::stop::Stop;
use super::{Imports, RunningImport};
use crate::error::{Error, Result};
use crate::refusal::IMPORT_SUPERSEDED;

/// Maximum number of records of a batch; one of large records has fewer (`filling.rs`). If others write the same SQLite file, a batch that takes longer than [`LONGEST`] makes the
/// next one smaller.
const MOST: usize = 2_000;
const FIRST: usize = 500;
const LEAST: usize = 20;
/// Time that a batch may hold the only writer of a SQLite file.
pub(super) const LONGEST: Duration = Duration::from_millis(80);
/// Interval in which a waiting import says that it is alive.
const ALIVE: Duration = Duration::from_secs(5);
/// Number of batches that are prepared ahead.
const AHEAD: usize = 1;

/// How an import runs.
#[derive(Default)]
pub struct Control {
    pub stop: Stop,
    /// Maximum number of records per second.
    pub rate: Option<u32>,
    /// True if others use the same SQLite file, so that the import leaves them most of the time.
    pub is_shared: Option<Box<dyn Fn() -> bool + Send + Sync>>,
}

impl Control {
    fn is_shared(&self) -> bool {
        self.is_shared.as_ref().is_some_and(|is_shared| is_shared())
    }
}

/// Progress of an import, after each batch.
pub struct Progress<'a> {
    pub counts: &'a ImportCounts,
    /// Outcomes of the records of the batch.
    pub results: &'a [RecordResult],
    /// True if others use the database, so that the import pauses.
    pub is_shared: bool,
}

/// End of an import.
#[derive(Debug)]
pub enum ImportEnd {
    /// All records were read.
    Done,
    /// The import was asked to stop.
    Stopped,
    /// The policy `fail` ended the import at the record of this line.
    Clash(u64, Problem),
    /// The file cannot be read on.
    Unreadable(ReadError),
}

impl ImportEnd {
    /// Returns the last line of the report of an import that ended early; `None` if all is said.
    #[must_use]
    pub fn report_line(&self) -> Option<String> {
        match self {
            Self::Done | Self::Stopped => None,
            Self::Clash(line, problem) => {
                let mut told = problem.to_json();
                told.insert("line".to_owned(), (*line).into());
                Some(Value::Object(told).to_string())
            }
            Self::Unreadable(error) => Some(json!({ "message": error.to_string() }).to_string()),
        }
    }
}

impl Imports {
    /// Runs an import to its end, and stores its state. `each` is called after each batch.
    pub async fn run(
        &self,
        running: &mut RunningImport,
        records: Records,
        control: &Control,
        mut each: impl FnMut(&Progress<'_>) + Send,
    ) -> Result<ImportEnd> {
        let mut pace = Pace::new(control.rate);
        let size = Arc::new(AtomicUsize::new(pace.fitting(FIRST)));
        let seen = Arc::new(Mutex::new(Seen::new(running.job.is_dry_run)));
        let mut batches = self.read(running, records, Arc::clone(&size), Arc::clone(&seen))?;
        let end = loop {
            let records = match self.unless_stopped(running, control, batches.recv()).await? {
                None => break ImportEnd::Stopped,
                Some(None) => return Err(Error::internal("the thread that reads the file has ended early")),
                Some(Some(Err(error))) => break ImportEnd::Unreadable(error),
                Some(Some(Ok(records))) if records.is_empty() => break ImportEnd::Done,
                Some(Some(Ok(records))) => records,
            };
            let count = records.len();
            if self.unless_stopped(running, control, sleep_until(pace.due(count))).await?.is_none() {
                break ImportEnd::Stopped;
            }
            // A server secret that was replaced meanwhile ends the import before it seals anything under the old one.
            self.shared.sync().await?;
            let begun = Instant::now();
            let (results, stopped) = self.write(running, records, &seen).await?;
            let (took, is_shared) = (begun.elapsed(), control.is_shared());
            each(&Progress { counts: &running.job.counts, results: &results, is_shared });
            if let Some((line, problem)) = stopped {
                break ImportEnd::Clash(line, problem);
            }
            let next = if is_shared { next_size(size.load(Ordering::Relaxed), count, took) } else { MOST };
            size.store(pace.fitting(next), Ordering::Relaxed);
            pace.wrote(begun, took, is_shared);
        };
        self.end(running, &end).await?;
        Ok(end)
    }

    /// Starts the thread that reads the file. An empty batch is the end of it. The thread ends when the receiver is dropped, at
    /// the next record: a read that hangs is not waited for.
    fn read(
        &self,
        running: &RunningImport,
        records: Records,
        size: Arc<AtomicUsize>,
        seen: Arc<Mutex<Seen>>,
    ) -> Result<mpsc::Receiver<Result<Vec<BatchRecord>, ReadError>>> {
        let (sender, batches) = mpsc::channel(AHEAD);
        let preparer = Preparer::new(self, running, seen);
        let (written, clock) = (running.job.counts.read, Arc::clone(&self.kernel.clock));
        let work = move || {
            let (mut batch, mut place) = (Filling::default(), 0);
            for entry in records {
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(error) => {
                        // A receiver that is gone has no interest in the error either.
                        if !batch.is_empty() {
                            let _ = sender.blocking_send(Ok(batch.take()));
                        }
                        let _ = sender.blocking_send(Err(error));
                        return;
                    }
                };
                if sender.is_closed() {
                    return;
                }
                place += 1;
                if place <= written {
                    preparer.skip(&entry);
                    continue;
                }
                batch.push(preparer.prepare(place, entry, clock.now()));
                let is_full = batch.is_full(size.load(Ordering::Relaxed));
                if is_full && sender.blocking_send(Ok(batch.take())).is_err() {
                    return;
                }
            }
            if !batch.is_empty() {
                let _ = sender.blocking_send(Ok(batch.take()));
            }
            let _ = sender.blocking_send(Ok(Vec::new()));
        };
        std::thread::Builder::new().name("import".to_owned()).spawn(work).map_err(Error::internal)?;
        Ok(batches)
    }

    async fn write(
        &self,
        running: &mut RunningImport,
        mut records: Vec<BatchRecord>,
        seen: &Mutex<Seen>,
    ) -> Result<(Vec<RecordResult>, Option<(u64, Problem)>)> {
        let seen = || seen.lock().unwrap_or_else(PoisonError::into_inner);
        running.signer_keys.follow(&mut seen().signer_keys);
        self.store_signer_keys(running, &mut records).await?;
        let values = seen().meet(&mut records);
        let batch = ImportBatch {
            id: running.job.id,
            claim: running.claim,
            before: running.job.counts.clone(),
            policy: running.job.policy,
            records,
            is_dry_run: running.job.is_dry_run,
            is_stored: running.is_stored,
            now: self.kernel.now(),
        };
        match self.kernel.store.write_import_batch(batch).await? {
            BatchOutcome::Superseded => Err(Error::Refused(&IMPORT_SUPERSEDED)),
            BatchOutcome::Written { counts, results, stopped } => {
                running.job.counts = counts;
                seen().keep(values, &results);
                Ok((results, stopped))
            }
        }
    }

    /// Waits for a source or a pause, and says from time to time that the import is alive. Returns `None` if the import is to
    /// stop before.
    async fn unless_stopped<T>(
        &self,
        running: &RunningImport,
        control: &Control,
        waiting: impl Future<Output = T> + Send,
    ) -> Result<Option<T>> {
        let mut waiting = std::pin::pin!(waiting);
        let mut alive = interval_at(Instant::now() + ALIVE, ALIVE);
        alive.set_missed_tick_behavior(MissedTickBehavior::Delay); // after a halt of the process
        loop {
            tokio::select! {
                biased;
                () = control.stop.asked() => return Ok(None),
                done = &mut waiting => return Ok(Some(done)),
                _ = alive.tick() => self.renew(running).await?,
            }
        }
    }

    async fn end(&self, running: &mut RunningImport, end: &ImportEnd) -> Result<()> {
        let state = match end {
            ImportEnd::Done => ImportState::Done,
            ImportEnd::Stopped | ImportEnd::Clash(..) | ImportEnd::Unreadable(_) => ImportState::Failed,
        };
        let now = self.kernel.now();
        running.job.state = state;
        running.job.ended_at = Some(now);
        if !running.is_stored {
            return Ok(());
        }
        let store = &self.kernel.store;
        is_ours(store.end_import(running.job.id, running.claim, state, end.report_line(), now).await?)
    }

    async fn renew(&self, running: &RunningImport) -> Result<()> {
        if !running.is_stored {
            return Ok(());
        }
        is_ours(self.kernel.store.renew_import(running.job.id, running.claim, self.kernel.now()).await?)
    }
}

/// Fails if another process has taken the import over.
fn is_ours(is_ours: bool) -> Result<()> {
    if is_ours { Ok(()) } else { Err(Error::Refused(&IMPORT_SUPERSEDED)) }
}

/// Returns the number of records of a batch after one of `count` records took this long.
fn next_size(size: usize, count: usize, took: Duration) -> usize {
    if count < size && took <= LONGEST {
        return size; // the last batch, one of large records, or the size was just changed
    }
    let (took, longest) = (took.as_micros().max(1), LONGEST.as_micros());
    let fitting = (count as u128 * longest / took).clamp(LEAST as u128, MOST as u128);
    // Growing slowly, shrinking at once.
    usize::try_from(fitting).unwrap_or(MOST).min(size + size / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_batch_of_few_large_records_makes_the_next_one_smaller() {
        assert_eq!(next_size(500, 40, LONGEST), 500);
        assert_eq!(next_size(500, 40, LONGEST * 2), 20);
        assert_eq!(next_size(500, 500, LONGEST * 2), 250);
        assert_eq!(next_size(500, 500, LONGEST / 2), 750);
    }
}
