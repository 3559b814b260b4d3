//! Arguments of `latchkey export`.

use std::path::PathBuf;

use clap::Args;
use latchkey_domain::time::Timestamp;

/// Arguments of `latchkey export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// File to write, which must not exist; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Include password hashes, TOTP secrets and passkeys. Whoever reads the file can then guess passwords offline.
    #[arg(long)]
    pub with_secrets: bool,
    /// Only accounts created or changed at or after this time, in RFC 3339, or this day in UTC.
    #[arg(long, value_name = "TIME", value_parser = super::audit::time)]
    pub since: Option<Timestamp>,
}
