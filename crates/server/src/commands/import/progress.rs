//! Progress of an import: a bar on a terminal, or a JSON line a second.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use latchkey_domain::imports::ImportCounts;
use latchkey_service::imports::{Progress as BatchProgress, RunningImport};
use serde_json::json;
use tokio::time::Instant;

use crate::cli::ImportFile;
use crate::commands::count::count;

/// Progress of one import. The bar counts the bytes of the file, whose size is known.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    read: Option<Arc<AtomicU64>>,
    is_json: bool,
    begun: Instant,
    /// Records that an earlier process wrote.
    before: u64,
    counts: ImportCounts,
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
        let bar = is_shown.then(|| bar(size));
        let tells_of_others = !is_json && arguments.rate.is_none();
        Self {
            bar,
            read,
            is_json,
            begun: Instant::now(),
            before: running.job.counts.read,
            counts: running.job.counts.clone(),
            tells_of_others,
        }
    }

    /// Takes over the counts after a batch.
    pub(super) fn advance(&mut self, batch: &BatchProgress<'_>) {
        if batch.is_shared && std::mem::take(&mut self.tells_of_others) {
            self.tell(
                "The database is in use, so the import pauses nine tenths of the time. `--rate N` lets it go up to N a second.",
            );
        }
        self.counts = batch.counts.clone();
        if let Some(bar) = &self.bar {
            self.move_bar(bar);
        }
    }

    /// Shows the progress. It is called each second, also while the import waits.
    pub(super) fn show(&self) {
        if let Some(bar) = &self.bar {
            self.move_bar(bar);
        }
        if self.is_json {
            let counts = &self.counts;
            println!(
                "{}",
                json!({"read": counts.read, "created": counts.created, "updated": counts.updated,
                    "skipped": counts.skipped, "refused": counts.refused, "rate": self.rate()})
            );
        }
    }

    fn move_bar(&self, bar: &ProgressBar) {
        if let Some(read) = &self.read {
            bar.set_position(read.load(Ordering::Relaxed));
        }
        let problems: u64 = self.counts.problems.values().sum();
        let (read, problems) = (count(self.counts.read, "record"), count(problems, "problem"));
        bar.set_message(format!("{read}, {}/s, {problems}", self.rate()));
        bar.tick();
    }

    fn rate(&self) -> u64 {
        (self.counts.read - self.before) / self.begun.elapsed().as_secs().max(1)
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
