//! Arguments of `latchkey import`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use latchkey_domain::ids::ImportId;
use latchkey_domain::imports::ConflictPolicy;

use super::Sure;

/// Arguments of `latchkey import`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    override_usage = "latchkey import [OPTIONS] --from FORMAT FILE\n       latchkey import list | show ID | undo ID",
    after_help = "\
Formats: latchkey, supabase, firebase, auth0, clerk, keycloak, better-auth, pocketbase, rauthy, django, csv.

Try it first with --dry-run, which reads everything, looks up every conflict, writes nothing and prints the same report. An \
import that was interrupted goes on when the same command is run again; Ctrl-C ends it after the batch that is being written. \
Nobody gets a mail."
)]
pub struct ImportArgs {
    #[command(subcommand)]
    pub command: Option<ImportCommand>,
    #[command(flatten)]
    pub file: ImportFile,
}

/// Subcommands of `latchkey import`.
#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// List the imports, newest first.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show an import and its report.
    Show {
        /// Id of the import.
        id: ImportId,
        /// Print the import as JSON, then the report as JSON lines.
        #[arg(long)]
        json: bool,
    },
    /// Delete the accounts that an import created, unless they have signed in or were changed since. For 30 days.
    Undo {
        /// Id of the import.
        id: ImportId,
        #[command(flatten)]
        sure: Sure,
        /// Print the result as one JSON document.
        #[arg(long)]
        json: bool,
    },
}

/// A file to import.
#[expect(clippy::struct_excessive_bools, reason = "each is an option")]
#[derive(Debug, Args)]
pub struct ImportFile {
    /// File to read, or `-` for standard input; a folder for some formats.
    #[arg(value_name = "FILE")]
    pub path: Option<PathBuf>,
    /// Format of the file.
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<String>,
    /// Read everything and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// What to do with a record whose address has an account: skip it, update what the account lacks, or fail.
    #[arg(long, value_name = "skip|update|fail", default_value = "skip", value_parser = policy)]
    pub on_conflict: ConflictPolicy,
    /// Write the report here, as JSON lines.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Treat no address of the file as verified.
    #[arg(long)]
    pub unverified: bool,
    /// Take hashes that are bare digests.
    #[arg(long)]
    pub allow_weak: bool,
    /// Maximum number of records per second. Without it, an import into SQLite beside a service takes a tenth of the time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub rate: Option<u32>,
    /// Column of a field, such as email=mail; repeatable. For csv, django and rauthy.
    #[arg(long, value_name = "OURS=THEIRS")]
    pub column: Vec<String>,
    /// Realm to import of a Keycloak export that has several.
    #[arg(long, value_name = "NAME")]
    pub realm: Option<String>,
    /// Store columns without a field of ours in the metadata, under `imported`.
    #[arg(long)]
    pub keep_rest: bool,
    /// File with the parameters of a Firebase project's hashes.
    #[arg(long, value_name = "FILE")]
    pub hash_config: Option<PathBuf>,
    /// File with the URL of the source's database, postgres://…, which is only read.
    #[arg(long, value_name = "FILE", conflicts_with = "path")]
    pub url_file: Option<PathBuf>,
    /// Table of the accounts in a database of the source, such as `PocketBase`'s collection.
    #[arg(long, value_name = "TABLE", visible_alias = "collection")]
    pub table: Option<String>,
    /// Print progress and result as JSON lines.
    #[arg(long)]
    pub json: bool,
}

fn policy(text: &str) -> Result<ConflictPolicy, &'static str> {
    ConflictPolicy::parse(text).ok_or("wanted skip, update or fail")
}
