//! Progress display of a copy: a progress bar on a terminal, otherwise lines.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// Maximum number of lines per phase if standard error is not a terminal.
const LINES: u64 = 20;
/// Rows between two lines if the total number of rows is unknown.
const ROWS_PER_LINE: u64 = 100_000;

/// Progress of one phase of a copy. Prints while the phase runs.
pub(super) struct Progress {
    phase: &'static str,
    total: u64,
    done: u64,
    printed: u64,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Starts a phase that handles `total` rows; 0 if the number is unknown.
    pub(super) fn new(phase: &'static str, total: u64) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| bar(phase, total));
        Self { phase, total, done: 0, printed: 0, bar }
    }

    /// Adds `rows` rows of a table to the rows that are already handled.
    pub(super) fn advance(&mut self, table: &'static str, rows: usize) {
        let rows = rows as u64;
        self.done += rows;
        if let Some(bar) = &self.bar {
            bar.set_message(table);
            bar.inc(rows);
        } else if self.done >= self.printed + self.pace() {
            self.printed = self.done;
            self.tell(table);
        }
    }

    /// Removes the bar, or prints the final count.
    pub(super) fn end(self) {
        match &self.bar {
            Some(bar) => bar.finish_and_clear(),
            None => println!("{}: {} rows", self.phase, self.done),
        }
    }

    fn pace(&self) -> u64 {
        if self.total == 0 { ROWS_PER_LINE } else { (self.total / LINES).max(1_000) }
    }

    fn tell(&self, table: &str) {
        match self.total {
            0 => println!("{}: {} rows, at {table}", self.phase, self.done),
            total => println!("{}: {} of {total} rows, at {table}", self.phase, self.done),
        }
    }
}

fn bar(phase: &'static str, total: u64) -> ProgressBar {
    let (bar, template) = match total {
        0 => (ProgressBar::no_length(), "{prefix:>10} {spinner} {human_pos} rows  {msg}"),
        total => (
            ProgressBar::new(total),
            "{prefix:>10} [{bar:30}] {human_pos} of {human_len} rows, {eta} left  {msg}",
        ),
    };
    // An invalid template falls back to the default style of `indicatif`.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style).with_prefix(phase)
}
