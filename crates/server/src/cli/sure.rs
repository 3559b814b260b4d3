//! Option `--yes` of every command that asks before what cannot be undone.

use clap::Args;

/// Answer to the question of a command, given before.
#[derive(Debug, Clone, Copy, Args)]
pub struct Sure {
    /// Do it without confirmation. Required if standard input is not a terminal.
    #[arg(long)]
    pub yes: bool,
}
