//! Option `--json` of every command that prints a list or a report.

use clap::Args;

/// Form of a result on standard output.
#[derive(Debug, Clone, Copy, Args)]
pub struct Output {
    /// Print the result as one JSON document.
    #[arg(long)]
    pub json: bool,
}
