//! Progress of an import: a bar on a terminal, or a JSON line a second.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use latchkey_service::imports::{Progress as BatchProgress, RunningImport};
use serde_json::json;
use tokio::time::Instant;

use crate::cli::ImportFile;

/// Interval of JSON lines.
const EVERY: Duration = Duration::from_secs(1);

/// Progress of one import. The bar counts the bytes of the file, whose size is known.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    read: Option<Arc<AtomicU64>>,
    is_json: bool,
    begun: Instant,
    printed: Instant,
    /// Records that an earlier process wrote.
    before: u64,
    /// True if the user is to be told once that the import pauses for others.
    tells_of_others: bool,
}

impl Progress {
    pub(super) fn new(
        running: &RunningImport,
        file: Option<(u64, Arc<AtomicU64>)>,
        arguments: &ImportFile,
    ) -> Self {
        let is_json = arguments.json;
        if running.is_resumed && !is_json {
            eprintln!(
                "An earlier run was interrupted after {} records; the import goes on.",
                running.job.counts.read
            );
        }
        let is_shown = !is_json && std::io::stderr().is_terminal();
        let (size, read) = file.map_or((None, None), |(size, read)| (Some(size), Some(read)));
        let now = Instant::now();
        let bar = is_shown.then(|| bar(size));
        let tells_of_others = !is_json && arguments.rate.is_none();
        Self { bar, read, is_json, begun: now, printed: now, before: running.job.counts.read, tells_of_others }
    }

    pub(super) fn advance(&mut self, batch: &BatchProgress<'_>) {
        let counts = batch.counts;
        if batch.is_shared && std::mem::take(&mut self.tells_of_others) {
            self.tell(
                "The database is in use, so the import pauses nine tenths of the time. `--rate N` lets it go up to N a second.",
            );
        }
        let seconds = self.begun.elapsed().as_secs().max(1);
        let rate = (counts.read - self.before) / seconds;
        if let Some(bar) = &self.bar {
            if let Some(read) = &self.read {
                bar.set_position(read.load(Ordering::Relaxed));
            }
            let problems: u64 = counts.problems.values().sum();
            bar.set_message(format!("{} records, {rate}/s, {problems} problems", counts.read));
        }
        if self.is_json && self.printed.elapsed() >= EVERY {
            self.printed = Instant::now();
            println!(
                "{}",
                json!({"read": counts.read, "created": counts.created, "updated": counts.updated,
                    "skipped": counts.skipped, "refused": counts.refused, "rate": rate})
            );
        }
    }

    fn tell(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => eprintln!("{line}"),
        }
    }

    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(size: Option<u64>) -> ProgressBar {
    let (bar, template) = match size {
        None => (ProgressBar::no_length(), "{spinner} {msg}"),
        Some(size) => (ProgressBar::new(size), "[{bar:30}] {eta} left  {msg}"),
    };
    // An invalid template falls back to the default style of `indicatif`.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style)
}
