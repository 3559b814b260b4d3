//! Arguments of `latchkey backup` and `latchkey restore`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::output::Output;

/// Arguments of `latchkey backup`.
#[derive(Debug, Args)]
#[command(after_help = "\
A service may run and write meanwhile. The copy is checked before it gets its name; FILE.json beside it says what it \
contains, and `latchkey restore` needs it. Neither holds server.secret: keep that in another place.

With --out - the backup goes to standard output, and its manifest to standard error.")]
pub struct BackupArgs {
    /// File that does not exist yet, or folder in which the backup gets a name of its own, or - for standard output.
    #[arg(long, value_name = "FILE|DIR|-", required_unless_present = "verify")]
    pub out: Option<PathBuf>,
    /// With a folder: delete older backups of this form, and keep this many.
    #[arg(long, value_name = "N", requires = "out")]
    pub keep: Option<NonZeroUsize>,
    /// Verify this backup with its manifest, and make none.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["out", "keep"])]
    pub verify: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `latchkey restore`.
#[derive(Debug, Args)]
#[command(after_help = "\
The service must be stopped. The backup and its manifest FILE.json are checked first, and that server.secret is the one \
that the backup needs.

All sessions end, codes and mailed links work no more, and a new key signs tokens, because a restored database would bring \
back what was signed out, banned, used or stolen since. Queued mails that are older than an hour are not sent.")]
pub struct RestoreArgs {
    /// Backup, as `latchkey backup` made it.
    pub file: PathBuf,
    /// Path of the restored database. Defaults to that of storage.url.
    #[arg(long, value_name = "PATH")]
    pub to: Option<PathBuf>,
    /// Keep sessions, codes, mailed links and signing keys of the backup.
    #[arg(long)]
    pub keep_sessions: bool,
    /// Move an existing database aside, and restore without a manifest.
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub output: Output,
}
